declare module 'kafkajs-snappy' {
  const createSnappyCodec: () => unknown;
  export default createSnappyCodec;
}
