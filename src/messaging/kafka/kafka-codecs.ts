import * as zlib from 'node:zlib';
import { promisify } from 'node:util';
import kafkajs from 'kafkajs';
import snappy from 'kafkajs-snappy';
import { compressFrame, decompressFrame } from 'lz4-napi';
import { ServiceError } from '../../runtime/service-error.ts';

interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(compressed: Buffer): Promise<Buffer>;
}

type Zlib = Partial<Pick<typeof zlib, 'zstdCompress' | 'zstdDecompress'>>;

/**
 * kafkajs brings gzip only, and one record batch in any other compression ends its consumer for good. Registers the other three
 * for every client of this process.
 */
export function registerCodecs(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  CompressionCodecs[CompressionTypes.Snappy] = snappy;
  CompressionCodecs[CompressionTypes.LZ4] = () => lz4;
  CompressionCodecs[CompressionTypes.ZSTD] = () => zstdCodec(zlib);
}

/** Node has zstd since 22.15 and 23.8. */
export function isZstdSupported(from: Zlib = zlib): boolean {
  return typeof from.zstdCompress === 'function' && typeof from.zstdDecompress === 'function';
}

/** @throws ServiceError `kafka-zstd-unsupported` where this Node.js has no zstd. */
export function zstdCodec(from: Zlib): Codec {
  const { zstdCompress, zstdDecompress } = from;
  if (zstdCompress === undefined || zstdDecompress === undefined) {
    const message = `records in zstd compression need Node.js 22.15 or newer; this is ${process.version}`;
    throw new ServiceError('kafka-zstd-unsupported', message, { retryable: false });
  }
  const compress = promisify(zstdCompress);
  const decompress = promisify(zstdDecompress);
  return { compress: ({ buffer }) => compress(buffer), decompress: (compressed) => decompress(compressed) };
}

// Kafka uses the LZ4 frame format; `compress` of this package is the bare block format with a size in front.
const lz4: Codec = {
  compress: ({ buffer }) => compressFrame(buffer),
  decompress: (compressed) => decompressFrame(compressed),
};
