import type { ServerResponse } from 'node:http';
import type { ApiAnswer, ApiDialect } from './api-dialects/dialect.ts';
import type { ApiAction } from './api-sink-script.ts';

/** An action that ends the request. The others only hold it up or change what is found. */
export type EndingAction = Exclude<
  ApiAction,
  { readonly do: 'stall' | 'delay' | 'interim' | 'forget' | 'late' | 'careless' }
>;

/**
 * Ends a request otherwise than usual.
 *
 * @param usual the answer that would be given; some faults are variations of it
 * @param url what the client asked for, with its query
 */
export function endOtherwise(
  response: ServerResponse,
  action: EndingAction,
  dialect: ApiDialect,
  usual: ApiAnswer,
  url: string,
): void {
  switch (action.do) {
    case 'drop':
      return void response.socket?.destroy();
    case 'reset':
      return void response.socket?.resetAndDestroy();
    case 'babble':
      return void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n');
    case 'twice':
      return writeTwice(response, usual);
    case 'refuse': {
      const answer = dialect.refuse(action.as, 'as the script says');
      return write(response, answer ?? { status: 501, headers: {}, body: `${dialect.name} never says ${action.as}` });
    }
    case 'reply':
      return write(response, { status: action.status, headers: action.headers ?? {}, body: action.body ?? '' });
    case 'garbage':
      return write(response, { status: 200, headers: { 'content-type': 'text/html' }, body: GARBAGE });
    case 'empty':
      return write(response, { status: 200, headers: {}, body: '' });
    case 'truncate':
      return action.where === 'json' ? write(response, { ...usual, body: half(usual) }) : cutOff(response, usual);
    case 'drip':
      return drip(response, usual, action.everyMs);
    case 'huge':
      return write(response, swollen(usual, action.bytes));
    case 'redirect':
      return write(response, { status: 307, headers: { location: url }, body: '' });
  }
}

export function write(response: ServerResponse, { status, headers, body }: ApiAnswer): void {
  // The client may have left: what was decided stands, there is only nobody to tell.
  if (response.destroyed || response.socket?.destroyed !== false) return;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

const GARBAGE =
  '<!doctype html>\n<html><head><title>Welcome</title></head><body><h1>Please sign in</h1></body></html>\n';

/** In one piece, so that the second is there before the client can ask for anything else. */
function writeTwice(response: ServerResponse, usual: ApiAnswer): void {
  const { socket } = response;
  const body = usual.body.replaceAll(/\d(?=[^\d]*$)/g, 'x');
  const headers = Object.entries(usual.headers).map(
    ([name, value]) => `${name}: ${name === 'x-message-id' ? 'x' : value}\r\n`,
  );
  socket?.cork();
  write(response, usual);
  socket?.write(
    `HTTP/1.1 ${usual.status} OK\r\n${headers.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  socket?.uncork();
}

/** What an answer without a body is cut from: there is nothing in it that could be half. */
const STAND_IN = '{"message":"The request was taken over."}';

function half({ body }: ApiAnswer): string {
  const whole = body === '' ? STAND_IN : body;
  return whole.slice(0, Math.ceil(whole.length / 2));
}

function cutOff(response: ServerResponse, usual: ApiAnswer): void {
  const whole = Buffer.from(usual.body === '' ? STAND_IN : usual.body);
  response.writeHead(usual.status, { ...usual.headers, 'content-length': whole.length });
  response.write(half(usual), () => response.socket?.destroy());
}

function drip(response: ServerResponse, usual: ApiAnswer, everyMs: number): void {
  const bytes = Buffer.from(usual.body === '' ? STAND_IN : usual.body);
  response.writeHead(usual.status, { ...usual.headers, 'content-length': bytes.length });
  response.flushHeaders();
  let sent = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(sent, sent + 1));
    sent += 1;
    if (sent < bytes.length) return;
    clearInterval(timer);
    response.end();
  }, everyMs);
  response.once('close', () => clearInterval(timer));
}

/** Valid, but for its size. */
function swollen(usual: ApiAnswer, bytes: number): ApiAnswer {
  const filler = 'x'.repeat(bytes);
  if (!usual.body.startsWith('{')) return { ...usual, body: usual.body + filler };
  return { ...usual, body: `{"filler":"${filler}",${usual.body.slice(1)}` };
}
