/**
 * The facade that everything emits through; what becomes of an event is the subscriber's business (room `observe`).
 * Until a subscriber is installed, events go nowhere.
 */

export type Fields = Readonly<Record<string, unknown>>;

/** Emits under one target, for example `shop::links`. */
export interface Target {
  trace(message: string, fields?: Fields): void;
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

const silent: Target = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export const tracing = {
  target(_name: string): Target {
    return silent;
  },
};
