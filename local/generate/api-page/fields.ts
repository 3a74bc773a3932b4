/** Flattens schemas into rows. */
import { type ApiDocument, resolved, type Schema } from './document.ts';

export interface Field {
  /** Path of the field, such as `body`, `memory.alloc`, `prs[].id`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** Lists the fields of an object. The fields of an inner object follow it. */
export function fieldsOf(document: ApiDocument, schema: Schema, prefix = ''): Field[] {
  const { properties = {}, required = [], items } = resolved(document, schema);
  if (items !== undefined) return fieldsOf(document, items, prefix);
  return Object.entries(properties).flatMap(([name, property]) => {
    const path = `${prefix}${name}`;
    const own = field(document, path, property, required.includes(name));
    return [own].concat(fieldsOf(document, property, `${path}${own.type.startsWith('array') ? '[]' : ''}.`));
  });
}

export function field(document: ApiDocument, name: string, schema: Schema, isRequired: boolean): Field {
  const { description = '' } = resolved(document, schema);
  return { name, type: typeOf(document, schema), isRequired, description };
}

function typeOf(document: ApiDocument, schema: Schema): string {
  const { type, format, items, anyOf, enum: values, const: value } = resolved(document, schema);
  if (value !== undefined) return JSON.stringify(value);
  if (values !== undefined) return values.map((item) => JSON.stringify(item)).join(' or ');
  if (anyOf !== undefined) return anyOf.map((part) => typeOf(document, part)).join(' or ');
  if (items !== undefined) return `array of ${typeOf(document, items)}`;
  if (format === 'date-time') return 'time (ISO 8601)';
  if (typeof type === 'object') return type.join(' or ');
  return format === 'uri' ? 'address' : (type ?? 'anything');
}
