import { Controller, Get, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { listAudit } from '../audit/list-audit.ts';
import { Filters } from './read-request.ts';
import { auditFilters, type AuditFilters } from './schemas/filters.schema.ts';
import { TenantId, TenantTokenGuard } from './tenant-token.guard.ts';

@Controller('v1/audit')
@UseGuards(TenantTokenGuard)
export class AuditController {
  constructor(private readonly dataSource: DataSource) {}

  /** What people decided, newest first. `next` is the `after` of the next page; null at the end. */
  @Get()
  async list(@TenantId() tenant: string, @Filters(auditFilters) { limit, after, object }: AuditFilters) {
    const page = { tenant, object: object ?? null, beforeId: after ?? null, limit: limit + 1 };
    const rows = await listAudit(this.dataSource, page);
    const shown = rows.slice(0, limit);
    return {
      items: shown.map(({ audit_id: auditId, ...row }) => ({ auditId, ...row })),
      next: rows.length > limit ? (shown.at(-1)?.audit_id ?? null) : null,
    };
  }
}
