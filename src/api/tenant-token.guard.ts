import { hash } from 'node:crypto';
import {
  createParamDecorator,
  ForbiddenException,
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { TenantDirectory } from '../tenants/tenant-directory.ts';

interface TenantRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  tenantId?: string;
}

const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

/** Lets a request in under a tenant's token with the scope `read`, and says whose it is. Tokens are known by hash only. */
@Injectable()
export class TenantTokenGuard implements CanActivate {
  readonly #tokens = new Map<string, { tenantId: string; scopes: readonly string[] }>();

  constructor(tenants: TenantDirectory) {
    for (const tenantId of tenants.ids()) {
      for (const { sha256, scopes } of tenants.get(tenantId)?.tokens ?? [])
        this.#tokens.set(sha256, { tenantId, scopes });
    }
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<TenantRequest>();
    const { authorization } = request.headers;
    const token = typeof authorization === 'string' ? BEARER.exec(authorization)?.[1] : undefined;
    const known = token === undefined ? undefined : this.#tokens.get(hash('sha256', token, 'hex'));
    if (!known) throw new UnauthorizedException('Authorization: a bearer token of a tenant is needed');
    if (!known.scopes.includes('read')) throw new ForbiddenException('the token lacks the scope read');
    request.tenantId = known.tenantId;
    return true;
  }
}

/** The tenant of the request's token. */
export const TenantId = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const { tenantId } = context.switchToHttp().getRequest<TenantRequest>();
  if (tenantId === undefined) throw new UnauthorizedException('no tenant');
  return tenantId;
});
