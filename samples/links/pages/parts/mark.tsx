/** The mark of the product. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="9" />
      <path d="M13.5 18.5l5-5M12 15l-3 3a3.9 3.9 0 0 0 5.5 5.5l3-3M20 17l3-3a3.9 3.9 0 0 0-5.5-5.5l-3 3" />
    </svg>
  );
}
