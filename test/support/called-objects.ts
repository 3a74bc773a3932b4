/**
 * The Durable Objects that this test file has called. The platform also lists those of every
 * earlier file, empty by now, and opening all of them costs more than most files' own tests.
 */
import { env } from 'cloudflare:workers';

type Namespace = DurableObjectNamespace;
type Get = (this: Namespace, ...values: Parameters<Namespace['get']>) => DurableObjectStub;
type GetByName = (this: Namespace, ...values: Parameters<Namespace['getByName']>) => DurableObjectStub;

interface CalledObject {
  readonly objects: Namespace;
  readonly id: DurableObjectId;
}

const called = new Map<string, CalledObject>();

const isNamespace = (binding: unknown): binding is Namespace =>
  (binding as object).constructor.name === 'DurableObjectNamespace';

function remember(objects: Namespace, id: DurableObjectId): void {
  called.set(id.toString(), { objects, id });
}

/**
 * Tests, the service and the objects themselves share one isolate, so all of them get their stubs
 * from here.
 */
function watch(prototype: Namespace): void {
  const get: Get = Reflect.get(prototype, 'get');
  const getByName: GetByName = Reflect.get(prototype, 'getByName');
  prototype.get = function (id, options) {
    remember(this, id);
    return get.call(this, id, options);
  };
  prototype.getByName = function (name, options) {
    remember(this, this.idFromName(name));
    return getByName.call(this, name, options);
  };
}

const prototypes = Object.values(env)
  .filter(isNamespace)
  .map((objects) => Object.getPrototypeOf(objects) as Namespace);
for (const prototype of new Set(prototypes)) watch(prototype);

export const calledObjects = (): CalledObject[] => [...called.values()];
/** For when all of them are empty. */
export const forgetCalls = (): void => called.clear();
