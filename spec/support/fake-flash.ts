/** A flash without a session: the values that one visitor's requests leave for each other. `takes` counts the values that pages took. */
import type { Context } from "../../lib/http/request/context.js";
import type { FormFields } from "../../lib/http/body/form-fields.js";
import type { Middleware, Next } from "../../lib/http/middleware.js";
import {
  FlashOfRequest,
  FlashPort,
  NO_FLASH,
  type FieldMessages,
  type FlashContent,
  type FlashLevel,
} from "../../lib/stages/session/flash-port.js";

export class FakeFlash extends FlashPort {
  content: FlashContent = NO_FLASH;
  takes = 0;
  /** Whether a value is removed when a page takes it, as with a session. */
  empties = false;

  /** Gives every request this flash, as the session stage does. */
  get layer(): Middleware {
    return {
      handle: (ctx: Context, next: Next) => {
        FlashOfRequest.set(ctx, this);
        return next();
      },
    };
  }

  override peek(): FlashContent {
    return this.content;
  }

  override take(): FlashContent {
    this.takes++;
    const { content } = this;
    if (this.empties) this.content = NO_FLASH;
    return content;
  }

  override putBack(): void {
    this.takes--;
  }

  override addMessage(level: FlashLevel, message: string): void {
    this.change({ messages: [...this.content.messages, { level, message }] });
  }

  override addData(key: string, value: string): void {
    this.change({ data: { ...this.content.data, [key]: value } });
  }

  override addErrors(errors: FieldMessages, bag: string): void {
    this.change({ errors: { ...this.content.errors, [bag]: errors } });
  }

  override addInput(input: FormFields): void {
    this.change({ input });
  }

  override addMark(name: string): void {
    this.change({ marks: [...this.content.marks, name] });
  }

  private change(changed: Partial<FlashContent>): void {
    this.content = { ...this.content, ...changed };
  }
}
