// Import this first, and what needs the service by `await import` after it: then `src` is the compiled program, which is what
// runs in production. Node itself cannot load all of `src`.
import { registerHooks } from 'node:module';

const SOURCE = new URL('../../src/', import.meta.url).href;
const COMPILED = new URL('../../dist/src/', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    if (!found.url.startsWith(SOURCE) || !found.url.endsWith('.ts')) return found;
    const url = COMPILED + found.url.slice(SOURCE.length).replace(/\.ts$/, '.js');
    return { ...found, url, format: 'module' };
  },
});
