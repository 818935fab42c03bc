import { Controller, Get, UseGuards } from '@nestjs/common';
import { FINAL_STATES, OPERATION_STATES, type OperationState } from '../operations/operation.states.ts';
import { OperationStats, type TenantStats } from '../operations/operation-stats/operation-stats.ts';
import { Filters } from './read-request.ts';
import { noFilters } from './schemas/filters.schema.ts';
import { TenantId, TenantTokenGuard } from './tenant-token.guard.ts';

@Controller('v1/stats')
@UseGuards(TenantTokenGuard)
export class StatsController {
  constructor(private readonly stats: OperationStats) {}

  /** Exact figures, as old as the two times say: what is in motion is counted often, what has ended the less often the more it is. */
  @Get()
  async read(@TenantId() tenantId: string, @Filters(noFilters) _filters: object) {
    return shown(await this.stats.read(tenantId));
  }
}

const IN_MOTION: readonly OperationState[] = OPERATION_STATES.filter((state) => !FINAL_STATES.includes(state));

function shown({ inMotion, ended }: TenantStats) {
  const moving = new Map<string, (typeof inMotion.value)[number]>(inMotion.value.map((row) => [row.of, row]));
  const over = ended && new Map(ended.value.map((row) => [row.state, row.operations]));
  return {
    operations: Object.fromEntries(
      OPERATION_STATES.map((state) => {
        if (IN_MOTION.includes(state)) return [state, moving.get(state)?.operations ?? 0];
        return [state, over && (over.get(state) ?? 0)];
      }),
    ),
    oldestSeconds: Object.fromEntries(
      IN_MOTION.map((state) => {
        const seconds = moving.get(state)?.oldest_seconds ?? null;
        return [state, seconds === null ? null : Math.floor(Math.max(0, seconds))];
      }),
    ),
    unknownNeedingPerson: moving.get('needs-person')?.operations ?? 0,
    conflictsLastDay: moving.get('conflicts')?.operations ?? 0,
    inMotionCountedAt: inMotion.readAt,
    endedCountedAt: ended && ended.readAt,
  };
}
