/** The way to the provider, where the operator has set one. A link of the browser: the policy of the pages stops a form that leads to another site. */
import { usePage } from "@inertiajs/react";
import { useMessages } from "./messages.js";

interface ProviderLinkProps {
  /** The message with the name of the provider. */
  readonly text: string;
  /** For another account of a person who has signed in. */
  readonly isLink?: boolean;
}

export function ProviderLink({ text, isLink = false }: ProviderLinkProps) {
  const { provider } = usePage().props;
  const { t } = useMessages();
  if (provider === null || provider === undefined) return null;
  return (
    <a className="button ghost" href={isLink ? "/account/link/company" : "/account/provider/company"}>
      {t(text, { provider })}
    </a>
  );
}
