/** Shapes of pushes, for the bed of push-stored.test.ts. */
import { it } from 'vitest';
import type { TestBed } from '../support/test-bed.ts';

/** By what they are or do: the titles of their tests. */
export type Shapes = Readonly<Record<string, (bed: TestBed) => Promise<void>>>;

export function tell(shapes: Shapes, bed: TestBed): void {
  for (const [title, shape] of Object.entries(shapes)) it(title, () => shape(bed));
}
