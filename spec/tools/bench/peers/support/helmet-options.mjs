/** Helmet configured to set the headers that our stage sets and no others. */
const off = false;

const others = {
  xContentTypeOptions: true,
  xFrameOptions: { action: "deny" },
  referrerPolicy: { policy: "strict-origin-when-cross-origin" },
  crossOriginEmbedderPolicy: off,
  crossOriginOpenerPolicy: off,
  crossOriginResourcePolicy: off,
  originAgentCluster: off,
  strictTransportSecurity: off,
  xDnsPrefetchControl: off,
  xDownloadOptions: off,
  xPermittedCrossDomainPolicies: off,
  xPoweredBy: off,
  xXssProtection: off,
};

/** The nonce is minted just before, on the response, as helmet's documentation shows it. */
export const helmetOptions = {
  ...others,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'self'"], scriptSrc: ["'self'", (_request, response) => `'nonce-${response.nonce}'`] },
  },
};

/** @fastify/helmet mints the nonces itself, one for scripts and one for styles. */
export const helmetOptionsWithOwnNonces = {
  ...others,
  enableCSPNonces: true,
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'self'"], scriptSrc: ["'self'"] } },
};
