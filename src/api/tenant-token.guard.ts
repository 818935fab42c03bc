import { hash } from 'node:crypto';
import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { DataSource } from 'typeorm';
import type { TokenConfig } from '../config/einmal-config.ts';
import type { Scope } from '../config/tenant.schema.ts';
import { takeToken } from '../tenants/take-token.ts';
import { TenantDirectory } from '../tenants/tenant-directory.ts';
import { namedProblem, ProblemException } from './problem.ts';

/** Whose request it is. `actor`: the token's name. */
export interface Caller {
  readonly tenantId: string;
  readonly actor: string;
}

interface TenantRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  caller?: Caller;
}

interface KnownToken extends Caller {
  readonly token: TokenConfig;
}

const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

/** The scope that a token needs for a controller or one of its methods; `read` where nothing is said. */
export const NeedsScope = Reflector.createDecorator<Scope>();

/**
 * Lets a request in under a tenant's token with the scope it needs and within its rate, and says whose it is. Tokens are known by
 * hash only.
 */
@Injectable()
export class TenantTokenGuard implements CanActivate {
  readonly #tokens = new Map<string, KnownToken>();
  readonly #reflector: Reflector;
  readonly #dataSource: DataSource;

  constructor(tenants: TenantDirectory, reflector: Reflector, dataSource: DataSource) {
    this.#reflector = reflector;
    this.#dataSource = dataSource;
    for (const tenantId of tenants.ids()) {
      for (const token of tenants.get(tenantId)?.tokens ?? [])
        this.#tokens.set(token.sha256, { tenantId, actor: token.name, token });
    }
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<TenantRequest>();
    const { authorization } = request.headers;
    const text = typeof authorization === 'string' ? BEARER.exec(authorization)?.[1] : undefined;
    const known = text === undefined ? undefined : this.#tokens.get(hash('sha256', text, 'hex'));
    if (!known) throw unauthorized('Authorization: a bearer token of a tenant is needed');
    await this.#take(known);
    const needed = this.#reflector.getAllAndOverride(NeedsScope, [context.getHandler(), context.getClass()]) ?? 'read';
    if (!known.token.scopes.includes(needed)) {
      throw new ProblemException(403, `the token lacks the scope ${needed}`, { missingScope: needed });
    }
    request.caller = { tenantId: known.tenantId, actor: known.actor };
    return true;
  }

  /** What is refused for its scope counts too: a token that is used in a wrong way is used. */
  async #take({ tenantId, token }: KnownToken): Promise<void> {
    const outcome = await takeToken(this.#dataSource, tenantId, token);
    switch (outcome.kind) {
      case 'taken':
        return;
      case 'expired':
        throw unauthorized('Authorization: the token has expired');
      case 'used-up':
        throw namedProblem(
          'too-many-requests',
          `the token may ask ${token.rate.perSecond} times a second`,
          { retryAfterSeconds: outcome.waitSeconds },
          { 'Retry-After': String(outcome.waitSeconds) },
        );
    }
  }
}

/** RFC 9110, section 11.6.1, asks for the challenge. */
function unauthorized(detail: string): ProblemException {
  return new ProblemException(401, detail, {}, { 'WWW-Authenticate': 'Bearer' });
}

/** The tenant of the request's token. */
export const TenantId = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  return callerOf(context).tenantId;
});

/** Tenant and name of the request's token. */
export const CalledBy = createParamDecorator((_: unknown, context: ExecutionContext): Caller => callerOf(context));

function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<TenantRequest>();
  if (caller === undefined) throw unauthorized('no tenant');
  return caller;
}
