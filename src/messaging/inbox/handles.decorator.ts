import { applyDecorators, Catch, UseFilters, type RpcExceptionFilter } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { throwError, type Observable } from 'rxjs';
import type { ConsumedType } from '../contracts/registry.ts';

export type { DataOf } from '../contracts/registry.ts';

/** The transport that carries our events; handlers bound to it are seen by no other microservice of the process. */
export const KAFKA_INBOX = Symbol('einmal.kafka-inbox');

/** Nest's own filter turns every error into a plain object; the inbox decides by class and SQLSTATE, so it must see the error. */
@Catch()
class RethrowFilter implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => error);
  }
}

/**
 * Marks the one method that handles events of this type. It is called with an `EventBatch`: fresh events in order, and
 * the transaction in which their inbox rows were inserted. What it throws rolls all of that back.
 */
export function Handles(type: ConsumedType): MethodDecorator {
  // Named, or Nest's other overload is taken, which fits no method with a typed parameter.
  // oxlint-disable-next-line typescript/no-unnecessary-type-arguments
  return applyDecorators(EventPattern<string>(type, KAFKA_INBOX), UseFilters(new RethrowFilter()));
}
