import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApprovalDecisions } from './api/approval-decisions.ts';
import { ApprovalsController } from './api/approvals.controller.ts';
import { AuditController } from './api/audit.controller.ts';
import { CampaignsController } from './api/campaigns.controller.ts';
import { DocumentsController } from './api/documents.controller.ts';
import { ErasuresController } from './api/erasures.controller.ts';
import { KnownProviders, knownProviders } from './api/known-providers.ts';
import { OperationDecisions } from './api/operation-decisions.ts';
import { OperationDecisionsController } from './api/operation-decisions.controller.ts';
import { OperationRequestsController } from './api/operation-requests.controller.ts';
import { OperationsController } from './api/operations.controller.ts';
import { PeopleDecisions } from './api/people-decisions.ts';
import { ProvidersController } from './api/providers.controller.ts';
import { RawBodies } from './api/raw-bodies.ts';
import { OperationDesk } from './api/request-desk.ts';
import { RequestIds } from './api/request-id.ts';
import { StatsController } from './api/stats.controller.ts';
import { TenantTokenGuard } from './api/tenant-token.guard.ts';
import { UnknownsController } from './api/unknowns.controller.ts';
import { ApprovalFactsHandler } from './campaigns/approve-campaign/approval-facts.handler.ts';
import { CampaignRequestsHandler } from './campaigns/campaign-requests.handler.ts';
import { claimLanes } from './dispatch/lanes-of-config.ts';
import { Backlog } from './health/backlog.ts';
import { HealthController } from './health/health.controller.ts';
import { ProcessHealth } from './health/process-health.ts';
import { ProcessMetrics } from './health/process-metrics.ts';
import { EventWriter } from './messaging/outbox/produced-event.ts';
import { OperationRequestsHandler } from './operations/operation-requests.handler.ts';
import { OperationSettings } from './operations/operation-settings.ts';
import { OperationStats } from './operations/operation-stats/operation-stats.ts';
import { CONSUMED_TOPIC_NAMES } from './messaging/topics.ts';
import type { ProcessBase, ProcessParts } from './process-role.ts';
import { ReceiptFactsHandler } from './receipts/receipt-facts.handler.ts';
import { EventLoopDelay } from './runtime/event-loop-delay.ts';
import { SubscriberFactsHandler } from './subscribers/subscriber-facts.handler.ts';
import { SuppressionFactsHandler } from './suppressions/suppression-facts.handler.ts';
import { TenantDirectory } from './tenants/tenant-directory.ts';

const HEALTH: Type[] = [HealthController];
const API: Type[] = [
  CampaignsController,
  OperationRequestsController,
  OperationDecisionsController,
  OperationsController,
  ApprovalsController,
  StatsController,
  UnknownsController,
  ProvidersController,
  AuditController,
  ErasuresController,
  DocumentsController,
];
const HANDLERS: Type[] = [
  SubscriberFactsHandler,
  SuppressionFactsHandler,
  CampaignRequestsHandler,
  ApprovalFactsHandler,
  OperationRequestsHandler,
  ReceiptFactsHandler,
];

/** Every controller of the service, and what they are given; the roles decide which of them a process has. */
@Module({})
export class AppModule {
  static forProcess(base: ProcessBase, parts: ProcessParts, eventLoop: EventLoopDelay): DynamicModule {
    const roles = new Set(base.config.process.roles);
    return {
      module: AppModule,
      controllers: [...HEALTH, ...(roles.has('api') ? API : []), ...(roles.has('consumer') ? HANDLERS : [])],
      providers: [
        ...shared(base, parts),
        ...health(base, parts, eventLoop),
        ...(roles.has('api') ? api(base, parts) : []),
      ],
    };
  }
}

function shared({ config, dataSource }: ProcessBase, { events, tenants }: ProcessParts): Provider[] {
  return [
    { provide: DataSource, useValue: dataSource },
    { provide: EventWriter, useValue: events },
    { provide: TenantDirectory, useValue: tenants },
    { provide: OperationSettings, useValue: operationSettings(config) },
  ];
}

function operationSettings({ dispatch, providers }: ProcessBase['config']): OperationSettings {
  const peers = Object.entries(providers).filter(([, { kind }]) => kind === 'kafka');
  return new OperationSettings(dispatch.maxAttempts, new Set(peers.map(([name]) => name)));
}

function api({ config, dataSource }: ProcessBase, { events, tenants, outbox }: ProcessParts): Provider[] {
  const desk = { events, tenants, settings: new OperationSettings(config.dispatch.maxAttempts) };
  return [
    TenantTokenGuard,
    RequestIds,
    RawBodies,
    { provide: KnownProviders, useValue: new KnownProviders(knownProviders(config)) },
    { provide: PeopleDecisions, useValue: new PeopleDecisions(dataSource, events, outbox, claimLanes(config)) },
    { provide: OperationDesk, useValue: new OperationDesk(dataSource, desk, outbox) },
    { provide: OperationDecisions, useValue: new OperationDecisions(dataSource, events, tenants, outbox) },
    { provide: ApprovalDecisions, useValue: new ApprovalDecisions(dataSource, events, outbox) },
    { provide: OperationStats, useValue: new OperationStats(dataSource) },
  ];
}

function health(
  { config, dataSource, metrics }: ProcessBase,
  parts: ProcessParts,
  eventLoop: EventLoopDelay,
): Provider[] {
  const consumers = () => parts.consumers?.statuses() ?? [];
  const { sessionTimeoutSeconds, rebalanceTimeoutSeconds } = config.messaging;
  const processHealth = new ProcessHealth({
    dataSource,
    consumers,
    consumersWanted: parts.consumers ? CONSUMED_TOPIC_NAMES.length : 0,
    loops: () => [...parts.workers, ...(parts.relay ? [parts.relay] : [])].flatMap((part) => part.loops()),
    eventLoop,
    joinGraceMs: (sessionTimeoutSeconds + rebalanceTimeoutSeconds) * 1000,
  });
  return [
    { provide: ProcessHealth, useValue: processHealth },
    { provide: Backlog, useValue: new Backlog(dataSource, metrics) },
    { provide: ProcessMetrics, useValue: new ProcessMetrics(metrics, consumers, eventLoop) },
  ];
}
