/** The pages of the test provider. They look unlike those of the sample, so that nobody confuses the two. */

/** @param application the host that asks for the sign-in */
export function signInPage(application: string): string {
  return document(
    "Sign in at the test provider",
    `<p><strong>${toHtml(application)}</strong> asks who you are. Take any name: there is no password.</p>
<form method="post">
  <label for="name">Name of a test person</label>
  <input id="name" name="name" value="ada" required pattern="[A-Za-z][A-Za-z0-9\\-]{0,31}" autocomplete="off" autofocus aria-describedby="hint">
  <p id="hint" class="hint">Letters, digits and hyphens. The address is <em>name</em>@example.org.</p>
  <label class="check"><input type="checkbox" name="verified" checked> The provider has verified the address</label>
  <div class="actions">
    <button class="main">Sign in</button>
    <button name="cancel" value="on" formnovalidate>Cancel</button>
  </div>
</form>`,
  );
}

export function messagePage(title: string, message: string): string {
  return document(
    title,
    `<p>${toHtml(message)}</p>
<p class="hint">This is the test provider.</p>`,
  );
}

function document(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${STYLE}</style>
<main>
<h1>${title}</h1>
${content}
</main>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0; background: light-dark(#f3efe6, #1d1b17); color: light-dark(#2b2620, #efe9dd) }
main { max-width: 26rem; margin: 12vh auto 0; padding: 1.75rem; background: light-dark(#fff, #2a2722); border-top: 6px solid #c2571a }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25 }
label { display: block; margin-bottom: .3rem; font-weight: 600 }
input:not([type=checkbox]) { width: 100%; box-sizing: border-box; padding: .6rem .7rem; font: inherit; border: 1px solid light-dark(#857c6e, #a0978a); border-radius: 4px }
.hint { margin: .3rem 0 1rem; font-size: .9rem }
.check { display: flex; gap: .5rem; align-items: baseline; font-weight: 400 }
.actions { display: flex; gap: .75rem; margin-top: 1.5rem }
button { padding: .6rem 1.1rem; font: inherit; border: 1px solid light-dark(#857c6e, #a0978a); border-radius: 4px; background: none; color: inherit; cursor: pointer }
.main { background: #8a3a0e; border-color: #8a3a0e; color: #fff }
:focus-visible { outline: 3px solid #c2571a; outline-offset: 2px }
@media (max-width: 30rem) { main { margin-top: 0 } }
`;

function toHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
