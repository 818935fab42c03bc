/**
 * The stack cannot start on this machine and a person has to do something: install, configure or free something.
 * `message` is complete, it names the ways out, and is meant to be shown without a stack trace.
 */
export class StackUnavailable extends Error {
  override readonly name = 'StackUnavailable';
}
