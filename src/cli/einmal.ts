#!/usr/bin/env node
import { readEnvironment } from '../config/env.ts';
import { runCommand } from './commands.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  env: readEnvironment(),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
