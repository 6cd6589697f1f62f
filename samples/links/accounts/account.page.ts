/** The pages of signing in and signing up: one form, with an error beside each field. A password is never shown again. */
import { escape } from "../document.js";
import { type Attempted, fault, field, flashes, page } from "../form.js";
import { account } from "./account.routes.js";

const PAGES = {
  signIn: {
    title: "Sign in",
    action: account.enter.url(),
    other: ["No account yet?", account.signUp.url(), "Sign up"],
  },
  signUp: {
    title: "Sign up",
    action: account.join.url(),
    other: ["An account already?", account.signIn.url(), "Sign in"],
  },
} as const;

export function accountPage(kind: keyof typeof PAGES, attempted: Attempted): string {
  const { title, action, other } = PAGES[kind];
  const complete = kind === "signIn" ? "current-password" : "new-password";
  const [question, url, words] = other;
  return page(
    title,
    `${flashes(attempted)}<form method="post" action="${action}">${attempted.token.field()}
  <label>Name ${fault(attempted, "name")}<input name="name" required maxlength="32" autocomplete="username"${field(attempted, "name")}></label>
  <label>Password ${fault(attempted, "password")}<input name="password" type="password" required maxlength="200" autocomplete="${complete}"></label>
  <button>${escape(title)}</button>
</form>
<p>${question} <a href="${url}">${words}</a></p>`,
    attempted,
  );
}
