import { defineConfig } from 'vitest/config';

/** One PostgreSQL and one broker serve the whole run; each file has its own database and topic prefix. */
export default defineConfig({
  test: {
    include: ['src/**/*.spec.ts', 'test/**/*.spec.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 90_000,
    teardownTimeout: 20_000,
    reporters: ['default', ['json', { outputFile: '.einmal/test-results.json' }]],
  },
});
