import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ALL_DIALECTS } from './api-dialects/all-dialects.ts';
import type {
  ApiAnswer,
  ApiDialect,
  ApiRequest,
  Effect,
  MessageRefusal,
  Refusal,
  Submission,
} from './api-dialects/dialect.ts';
import { KeyMemory, type KeyVerdict } from './api-sink-keys.ts';
import { ApiLedger } from './api-sink-ledger.ts';
import { endOtherwise, write, type EndingAction } from './api-sink-misbehave.ts';
import { ApiScript, type ApiAction, type ApiPhase } from './api-sink-script.ts';
import { readMessages, type Messages } from './api-sink-messages.ts';

/** A request that stalls. */
export interface Stalled {
  readonly dialect: string;
  readonly goOn: () => void;
}

export interface ApiSinkContext {
  readonly ledger: ApiLedger;
  readonly script: ApiScript;
  readonly keys: KeyMemory;
  readonly stalled: Set<Stalled>;
}

export function createContext(): ApiSinkContext {
  return { ledger: new ApiLedger(), script: new ApiScript(), keys: new KeyMemory(), stalled: new Set() };
}

/** Serves one request, from its head to its answer or its misfortune. */
export async function serve(
  context: ApiSinkContext,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(incoming.url ?? '/', 'http://sink');
  const method = incoming.method ?? 'GET';
  for (const dialect of ALL_DIALECTS) {
    const route = dialect.route(method, url.pathname);
    if (route === null) continue;
    const exchange = new Exchange(context, dialect, incoming, response, url);
    return await (route === 'lookup' ? exchange.lookup() : exchange.send());
  }
  context.ledger.strayed(`${method} ${url.pathname}`);
  incoming.resume();
  write(response, { status: 404, headers: {}, body: 'no such path' });
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const UNNAMED = '00000000-0000-0000-0000-000000000000';

/** JSON without the members and items that are this text. */
function without(value: unknown, text: string): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== text).map((item) => without(item, text));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== text);
  return Object.fromEntries(members.map(([name, member]) => [name, without(member, text)]));
}

class Exchange {
  readonly #context: ApiSinkContext;
  readonly #dialect: ApiDialect;
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #url: URL;

  constructor(
    context: ApiSinkContext,
    dialect: ApiDialect,
    incoming: IncomingMessage,
    response: ServerResponse,
    url: URL,
  ) {
    this.#context = context;
    this.#dialect = dialect;
    this.#incoming = incoming;
    this.#response = response;
    this.#url = url;
  }

  async send(): Promise<void> {
    const { ledger } = this.#context;
    const { name } = this.#dialect;
    ledger.headArrived(name);
    if (await this.#misbehaves('head', null, this.#sample())) return;
    const request = await this.#read();
    if (request === null) return;
    ledger.bodyArrived(name);
    const messages = await this.#admit(request);
    if (messages === null) return;
    const digest = hash('sha256', request.body, 'hex');
    for (const each of messages.each) if ('reference' in each) ledger.requested(name, each, digest);
    await this.#carryOut(request, messages, digest);
  }

  async lookup(): Promise<void> {
    const { ledger, script } = this.#context;
    const { name } = this.#dialect;
    ledger.lookedUp(name);
    const request = await this.#read();
    if (request === null) return;
    const action = script.decide(name, 'lookup', null);
    const fault = this.#dialect.refuseCredential(request);
    if (fault !== null) {
      ledger.refusedCredential(name);
      return this.#refuse('unauthorized', fault);
    }
    const found = this.#found(request, action);
    const ending = await this.#heldUp(action);
    if (ending === null) return write(this.#response, found);
    this.#end(ending, found);
  }

  #found(request: ApiRequest, action: ApiAction | null): ApiAnswer {
    const nothing = { status: 404, headers: {}, body: '' };
    const youngest = action?.do === 'late' ? Date.now() - (action.ms ?? Infinity) : Infinity;
    const own = this.#context.ledger.effects.filter(
      ({ dialect, at }) => dialect === this.#dialect.name && at <= youngest,
    );
    if (action?.do !== 'careless') return this.#dialect.find?.(request, own) ?? nothing;
    // As if each effect were the one that is asked for; then what would tell that it is not is taken out.
    const asked = UUID.exec(decodeURIComponent(this.#url.search) + request.body.toString())?.[0] ?? UNNAMED;
    const answer =
      this.#dialect.find?.(
        request,
        own.map((effect) => ({ ...effect, reference: asked })),
      ) ?? nothing;
    return { ...answer, body: JSON.stringify(without(JSON.parse(answer.body), asked)) };
  }

  /** What the vendor looks at before it does anything. */
  async #admit(request: ApiRequest): Promise<Messages | null> {
    const { ledger } = this.#context;
    const { name } = this.#dialect;
    const fault = this.#dialect.refuseCredential(request);
    if (fault !== null) {
      ledger.refusedCredential(name);
      this.#refuse('unauthorized', fault);
      return null;
    }
    const messages = await readMessages(this.#dialect, request);
    for (const flaw of messages.flaws) ledger.refusedForm(name, flaw);
    if (messages.refused === null) return messages;
    this.#refuse('bad-request', messages.refused);
    return null;
  }

  async #carryOut(request: ApiRequest, messages: Messages, digest: string): Promise<void> {
    const { reference } = messages;
    const keyName = this.#keyName(request, messages);
    const verdict = this.#consult(keyName, reference, digest);
    if (await this.#misbehaves('body', reference, this.#sample(messages))) {
      if (verdict.kind === 'fresh' && keyName !== null) this.#context.keys.abandon(keyName);
      return;
    }
    const answer = this.#answerTo(verdict, messages);
    if (verdict.kind === 'fresh' && keyName !== null) this.#context.keys.finish(keyName, answer);
    if (await this.#misbehaves('accepted', reference, answer)) return;
    write(this.#response, answer);
  }

  #keyName(request: ApiRequest, { key }: Messages): string | null {
    if (key === null || this.#dialect.keys === null) return null;
    return [this.#dialect.name, request.method, request.path, request.headers['authorization'], key].join('\n');
  }

  #consult(keyName: string | null, reference: string | null, digest: string): KeyVerdict {
    const { keys, script } = this.#context;
    const habit = this.#dialect.keys;
    if (keyName === null || habit === null) return { kind: 'fresh' };
    const action = script.decide(this.#dialect.name, 'key', reference);
    return keys.consult(habit, keyName, digest, action?.do === 'forget' ? action.afterMs : null);
  }

  #answerTo(verdict: KeyVerdict, messages: Messages): ApiAnswer {
    switch (verdict.kind) {
      case 'fresh':
        return messages.answer(messages.each.map((each) => this.#take(each)));
      case 'deduped':
        return this.#sample(messages);
      case 'replay':
        return verdict.answer;
      case 'concurrent':
      case 'mismatch':
      case 'duplicate':
        return this.#refusal(verdict.kind, `the key was seen: ${verdict.kind}`);
    }
  }

  #take(message: Submission | MessageRefusal): Effect | MessageRefusal {
    const { ledger, script } = this.#context;
    if ('refusal' in message) return message;
    const action = script.decide(this.#dialect.name, 'message', message.reference);
    if (action?.do === 'refuse') return { refusal: action.as, reason: 'as the script says' };
    const effect = this.#effect(message);
    ledger.took(effect);
    return effect;
  }

  #effect({ reference, recipient, subject }: Submission): Effect {
    const id = this.#dialect.effectId(this.#context.ledger.nextNumber());
    const at = performance.timeOrigin + performance.now();
    return { id, dialect: this.#dialect.name, reference, recipient, subject, at };
  }

  /** An answer as the vendor gives it, for faults that cut or swell one, where nothing is done. */
  #sample(messages?: Messages): ApiAnswer {
    if (messages) return messages.answer(messages.each.map((each) => ('refusal' in each ? each : this.#effect(each))));
    const nobody = { reference: '', recipient: null, subject: null, key: null, keyForm: null };
    const empty = { method: 'POST', path: '', query: new URLSearchParams(), headers: {}, body: Buffer.alloc(0) };
    return this.#dialect.accept(this.#effect(nobody), empty);
  }

  /** true when the request has ended here. */
  async #misbehaves(phase: ApiPhase, reference: string | null, usual: ApiAnswer): Promise<boolean> {
    const ending = await this.#heldUp(this.#context.script.decide(this.#dialect.name, phase, reference));
    if (ending === null) return false;
    this.#end(ending, usual);
    return true;
  }

  /** Waits where the action says so. @returns the action when it is one that ends the request */
  async #heldUp(action: ApiAction | null): Promise<EndingAction | null> {
    if (action === null) return null;
    switch (action.do) {
      case 'forget':
      case 'late':
      case 'careless':
        return null;
      case 'interim':
        this.#response.writeProcessing();
        return null;
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, action.ms));
        return null;
      case 'stall':
        await new Promise<void>((goOn) => this.#context.stalled.add({ dialect: this.#dialect.name, goOn }));
        return null;
      case 'drop':
      case 'reset':
      case 'refuse':
      case 'reply':
      case 'garbage':
      case 'empty':
      case 'truncate':
      case 'drip':
      case 'huge':
      case 'redirect':
      case 'babble':
      case 'twice':
        return action;
    }
  }

  #end(action: EndingAction, usual: ApiAnswer): void {
    endOtherwise(this.#response, action, this.#dialect, usual, this.#url.pathname + this.#url.search);
  }

  #refusal(refusal: Refusal, reason: string): ApiAnswer {
    return (
      this.#dialect.refuse(refusal, reason) ?? { status: 501, headers: {}, body: 'this vendor has no such answer' }
    );
  }

  #refuse(refusal: Refusal, reason: string): void {
    write(this.#response, this.#refusal(refusal, reason));
  }

  async #read(): Promise<ApiRequest | null> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of this.#incoming) chunks.push(chunk as Buffer);
    } catch {
      return null;
    }
    const headers = Object.fromEntries(
      Object.entries(this.#incoming.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : value,
      ]),
    );
    const { pathname, searchParams } = this.#url;
    return {
      method: this.#incoming.method ?? 'GET',
      path: pathname,
      query: searchParams,
      headers,
      body: Buffer.concat(chunks),
    };
  }
}
