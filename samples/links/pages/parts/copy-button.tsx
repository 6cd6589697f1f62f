/** Copies a text, or the address of a path of this site. It is not shown where the browser has no clipboard, as on plain HTTP. */
import { useEffect, useState } from "react";
import { useMessages } from "./messages.js";

const SHOWN_MS = 2000;

interface CopyButtonProps {
  readonly path?: string;
  readonly text?: string;
}

export function CopyButton({ path = "", text }: CopyButtonProps) {
  const { t } = useMessages();
  const [canCopy, setCanCopy] = useState(false);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => setCanCopy("clipboard" in navigator), []);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  if (!canCopy) return null;
  const copy = () => void navigator.clipboard.writeText(text ?? location.origin + path).then(() => setCopied(true));
  return (
    <button type="button" className="button ghost small" onClick={copy}>
      <span aria-live="polite">{isCopied ? t("page-copied") : t("page-copy")}</span>
    </button>
  );
}
