import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { isZstdSupported, zstdCodec } from './kafka-codecs.ts';

describe('zstd', () => {
  it('F: is refused with a clear error where Node.js has none', () => {
    expect(isZstdSupported({})).toBe(false);
    expect(() => zstdCodec({})).toThrow(expect.objectContaining({ code: 'kafka-zstd-unsupported', retryable: false }));
  });

  it('F: gives back what it was given', async () => {
    const codec = zstdCodec(zlib);
    const buffer = Buffer.from('text '.repeat(1000));
    const compressed = await codec.compress({ buffer });
    expect(compressed.length).toBeLessThan(buffer.length);
    expect(await codec.decompress(compressed)).toEqual(buffer);
  });
});
