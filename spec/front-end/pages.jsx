/** Each page is a chunk of its own. */
export const pages = import.meta.glob("./pages/**/*.jsx");
