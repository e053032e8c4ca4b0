export { type LiveOptions, postsWithoutKey, Vayu } from './client.js';
export type { CallOptions, Entry, ListPath, LiveMessage, Reply, Schemas } from './contract.js';
export { ConnectionError, ProblemError, SignatureError, TimeoutError, VayuError } from './error.js';
export type { components, operations, paths } from './made/schema.js';
export { type VerifyOptions, verifyWebhook, type WebhookEvent } from './signature.js';
export type { KeySource, Options } from './transport.js';
