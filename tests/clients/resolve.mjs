// Lets the tests import the packages that scripts/clients installed in build/clients.
import { registerHooks } from 'node:module';

const here = new URL('.', import.meta.url).href;
const installed = new URL('../../build/clients/package.json', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const isPackage = !/^(\.|\/|node:|file:)/.test(specifier) && context.parentURL?.startsWith(here);
    return next(specifier, isPackage ? { ...context, parentURL: installed } : context);
  },
});
