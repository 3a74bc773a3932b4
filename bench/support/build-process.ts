/** Builds the Worker in its own process, because the bundler would stay in this one's memory. */
import { type WorkerBuild, buildWorker } from '../../local/deploy/build.ts';
import { answerQuestions } from './helper.ts';

const actions = {
  build: (): Promise<WorkerBuild> => buildWorker(),
};

export type BuildActions = typeof actions;

answerQuestions(actions, async () => {});
