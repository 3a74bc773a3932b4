/** The picture of `docs/delay.md`: both scales logarithmic, one line a delay. */

export interface Line {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

const [WIDTH, HEIGHT] = [720, 420];
const [LEFT, RIGHT, TOP, BOTTOM] = [70, 640, 45, 360];
/** Powers of ten: 1 to 2,000 pushes a day, 1 to 10,000 candidates. */
const [DECADES_X, DECADES_Y] = [Math.log10(2000), 4];
/** Told apart by lightness and by the names at their ends, not by colour alone. Readable on white and on black. */
const COLOURS = ['#8a8a8a', '#b36b00', '#1f8a5b', '#2f7fd0', '#8a5cd0', '#cc3d6e'];

/** Brings its own background, so that it can be read in a light and a dark page. */
export function picture(lines: readonly Line[], aim: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="sans-serif" font-size="13">
<title>Effective anonymity set by pushes a day, for six delays</title>
<style>
.paper { fill: #fff } text { fill: #24292f } .grid { stroke: #d0d7de }
@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } }
</style>
<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>
<text x="${LEFT}" y="24">Uploads that an observer of both sides cannot tell apart, for one pull request (median)</text>
${[0, 1, 2, 3].map((power) => upright(10 ** power)).join('\n')}
${[0, 1, 2, 3, 4].map((power) => level(10 ** power)).join('\n')}
<path d="M${LEFT} ${down(aim)}H${RIGHT}" stroke="#cf222e" stroke-dasharray="6 4"/>
${lines.map((line, index) => curve(line, COLOURS[index] as string)).join('\n')}
<text x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 45}" text-anchor="middle">pushes a day with this delay</text>
</svg>
`;
}

function upright(value: number): string {
  const x = across(value);
  return `<path class="grid" d="M${x} ${TOP}V${BOTTOM}"/><text x="${x}" y="${BOTTOM + 20}" text-anchor="middle">${value.toLocaleString('en')}</text>`;
}

function level(value: number): string {
  const y = down(value);
  return `<path class="grid" d="M${LEFT} ${y}H${RIGHT}"/><text x="${LEFT - 8}" y="${y + 4}" text-anchor="end">${value.toLocaleString('en')}</text>`;
}

function curve({ name, points }: Line, colour: string): string {
  const path = points.map(({ x, y }) => `${across(x)} ${down(y)}`).join('L');
  const end = points.at(-1) as { x: number; y: number };
  return `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2.5"/><text x="${RIGHT + 8}" y="${down(end.y) + 4}">${name}</text>`;
}

function across(value: number): number {
  return Math.round(LEFT + ((RIGHT - LEFT) * Math.log10(value)) / DECADES_X);
}

function down(value: number): number {
  return Math.round(BOTTOM - ((BOTTOM - TOP) * Math.log10(value)) / DECADES_Y);
}
