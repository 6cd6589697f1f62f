/** Helmet told to set the headers that our stage sets and no others; the nonce is minted just before, on the response. */
const off = false;

export const helmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'self'"], scriptSrc: ["'self'", (_request, response) => `'nonce-${response.nonce}'`] },
  },
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
