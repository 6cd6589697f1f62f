const pages = import.meta.glob("./pages/**/*.jsx");

/** Each page is a chunk of its own. */
export async function pageNamed(name) {
  const { Page } = await pages[`./pages/${name}.jsx`]();
  return Page;
}
