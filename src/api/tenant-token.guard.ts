import { hash } from 'node:crypto';
import {
  createParamDecorator,
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Scope } from '../config/tenant.schema.ts';
import { TenantDirectory } from '../tenants/tenant-directory.ts';
import { ProblemException } from './problem.ts';

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
  readonly scopes: readonly Scope[];
}

const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

/** The scope that a token needs for a controller or one of its methods; `read` where nothing is said. */
export const NeedsScope = Reflector.createDecorator<Scope>();

/** Lets a request in under a tenant's token with the scope it needs, and says whose it is. Tokens are known by hash only. */
@Injectable()
export class TenantTokenGuard implements CanActivate {
  readonly #tokens = new Map<string, KnownToken>();
  readonly #reflector: Reflector;

  constructor(tenants: TenantDirectory, reflector: Reflector) {
    this.#reflector = reflector;
    for (const tenantId of tenants.ids()) {
      for (const { sha256, name, scopes } of tenants.get(tenantId)?.tokens ?? [])
        this.#tokens.set(sha256, { tenantId, actor: name, scopes });
    }
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<TenantRequest>();
    const { authorization } = request.headers;
    const token = typeof authorization === 'string' ? BEARER.exec(authorization)?.[1] : undefined;
    const known = token === undefined ? undefined : this.#tokens.get(hash('sha256', token, 'hex'));
    if (!known) throw new UnauthorizedException('Authorization: a bearer token of a tenant is needed');
    const needed = this.#reflector.getAllAndOverride(NeedsScope, [context.getHandler(), context.getClass()]) ?? 'read';
    if (!known.scopes.includes(needed)) {
      throw new ProblemException(403, `the token lacks the scope ${needed}`, { missingScope: needed });
    }
    request.caller = { tenantId: known.tenantId, actor: known.actor };
    return true;
  }
}

/** The tenant of the request's token. */
export const TenantId = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  return callerOf(context).tenantId;
});

/** Tenant and name of the request's token. */
export const CalledBy = createParamDecorator((_: unknown, context: ExecutionContext): Caller => callerOf(context));

function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<TenantRequest>();
  if (caller === undefined) throw new UnauthorizedException('no tenant');
  return caller;
}
