/** Private keys as ssh-keygen writes them (PROTOCOL.key), of the seed 0, 1, 2 and so on. */

export const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4';

interface KeyParts {
  readonly cipher?: string;
  readonly keyType?: string;
  readonly keys?: number;
  readonly checks?: readonly [number, number];
  readonly seed?: Uint8Array;
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const string = (value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([number(bytes.byteLength), bytes]);
};

/** Makes the content of a key's file, by default a good one. */
export function opensshKey(parts: KeyParts = {}): string {
  const { cipher = 'none', keyType = 'ssh-ed25519', keys = 1, checks = [7, 7] } = parts;
  const seed = parts.seed ?? Uint8Array.from({ length: 32 }, (_, at) => at);
  const publicBytes = Buffer.from(PUBLIC_KEY.split(' ')[1] ?? '', 'base64').subarray(-32);
  const secret = [
    ...checks.map(number),
    string(keyType),
    string(publicBytes),
    string(Buffer.concat([seed, publicBytes])),
    string('ada@laptop'),
  ];
  const whole = [
    Buffer.from('openssh-key-v1\0'),
    ...[cipher, 'none', ''].map(string),
    number(keys),
    string(Buffer.concat([string(keyType), string(publicBytes)])),
    string(Buffer.concat(secret)),
  ];
  return armored('OPENSSH PRIVATE KEY', Buffer.concat(whole).toString('base64'));
}

/** Wraps text as a key's file does. */
export function armored(type: string, base64: string): string {
  const lines = base64.match(/.{1,70}/g) ?? [];
  return `${[`-----BEGIN ${type}-----`, ...lines, `-----END ${type}-----`].join('\n')}\n`;
}
