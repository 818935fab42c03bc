import type { z } from 'zod';
import type { ProviderConfig, TenantConfig } from './einmal-config.ts';
import type { SectionName, sectionSchemas } from './sections.schema.ts';

export type Sections = { readonly [N in SectionName]?: z.output<(typeof sectionSchemas)[N]> };

/** What could be read of einmal.yaml; a member that has an error is left out, so that the others can still be compared. */
export interface FileParts {
  readonly tenants: ReadonlyMap<string, TenantConfig>;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Names of all providers in the file, also of those with an error. */
  readonly providerNames: readonly string[];
  readonly sections: Sections;
}
