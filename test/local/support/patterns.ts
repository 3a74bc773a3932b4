/**
 * Every regular expression of a file, as a parser of TypeScript finds it: literals, and what
 * `RegExp` is given.
 */
import { parseAst } from 'vitest/node';

export interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** A node of the tree, as far as it is read. */
interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * @throws Error for a pattern whose parts are not constants of the same file: nobody could check
 * it.
 */
export function patternsOf(code: string): readonly Pattern[] {
  const nodes = [...nodesIn(parseAst(code, { lang: 'ts' }))];
  const constants = new Map<string, Node>();
  for (const { type, id, init } of nodes) {
    if (type === 'VariableDeclarator' && isNode(id) && isNode(init)) constants.set(String(id['name']), init);
  }
  const textOf = (node: unknown): string => {
    if (isNode(node)) {
      const { type, value, quasis, expressions, quasi, name } = node;
      if (type === 'Literal' && !('regex' in node)) return String(value);
      if (type === 'TemplateLiteral') return filled(quasis, expressions, 'cooked');
      if (
        type === 'TaggedTemplateExpression' &&
        isNode(quasi) &&
        code.slice(Number(node['start'])).startsWith('String.raw`')
      )
        return filled(quasi['quasis'], quasi['expressions'], 'raw');
      const constant = type === 'Identifier' ? constants.get(String(name)) : undefined;
      if (constant !== undefined) return textOf(constant);
    }
    throw new Error(`a pattern is made of what is no constant: ${JSON.stringify(node)}`);
  };
  const filled = (quasis: unknown, expressions: unknown, form: 'cooked' | 'raw'): string => {
    const parts = (quasis as { readonly value: Readonly<Record<'cooked' | 'raw', string>> }[]).map(
      ({ value }) => value[form],
    );
    return parts
      .map((part, index) => (index === 0 ? part : textOf((expressions as unknown[])[index - 1]) + part))
      .join('');
  };
  return nodes.flatMap((node) => {
    if (node.type === 'Literal' && isRegex(node['regex'])) {
      const { pattern, flags } = node['regex'];
      return { source: pattern, flags };
    }
    const callee = node['callee'];
    if (!isNode(callee) || callee['name'] !== 'RegExp') return [];
    const [source, flags] = node['arguments'] as unknown[];
    return { source: textOf(source), flags: flags === undefined ? '' : textOf(flags) };
  });
}

function* nodesIn(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* nodesIn(one);
  else if (isNode(value)) {
    yield value;
    for (const field of Object.values(value)) yield* nodesIn(field);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function isRegex(value: unknown): value is { readonly pattern: string; readonly flags: string } {
  return typeof value === 'object' && value !== null && 'pattern' in value;
}
