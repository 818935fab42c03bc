import { formatConfigErrors } from '../config/config-error.ts';
import { loadConfig } from '../config/load-config.ts';
import type { CommandModule } from './commands.ts';

/** `einmal config check`: the checks of a start without starting. Exit code 0 when all is right, 1 when not. */
export const run: CommandModule['run'] = (args, { env, out, err }) => {
  if (args.length > 0) {
    err('einmal config check takes no arguments; EINMAL_CONFIG names the file\n');
    return 2;
  }
  const loaded = loadConfig({ env });
  if (!loaded.ok) {
    err(`${formatConfigErrors(loaded.errors, loaded.fileName)}\n`);
    return 1;
  }
  const { tenants, providers, process } = loaded.config;
  out(`${loaded.fileName} and the environment are right\n`);
  out(`  tenants: ${names(tenants)}\n  providers: ${names(providers)}\n  roles: ${process.roles.join(', ')}\n`);
  return 0;
};

function names(members: object): string {
  return Object.keys(members).join(', ');
}
