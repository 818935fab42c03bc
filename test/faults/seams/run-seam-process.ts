import { createDataSource } from '../../../src/database/data-source.ts';
import { SeamLine } from '../../support/seams.ts';
import { SEAM_APPLICATION } from '../../support/seams-worker.ts';
import { scenarioNamed } from './scenarios.ts';
import type { SeamChildSettings } from './seam-child.ts';
import { travel } from './travel.ts';

/** @param text the settings as JSON */
export async function runSeamProcess(text: string): Promise<void> {
  const { place, scenario, fault } = JSON.parse(text) as SeamChildSettings;
  const others = createDataSource({ url: place.databaseUrl, poolSize: 2, applicationName: SEAM_APPLICATION });
  await others.initialize();
  await travel(place, others, scenarioNamed(scenario), new SeamLine(fault));
  await others.destroy();
}
