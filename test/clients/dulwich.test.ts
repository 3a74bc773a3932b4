import { dulwich } from './dulwich/client.ts';
import { describeClient } from './support/matrix.ts';

describeClient(dulwich);
