/**
 * Reads the arguments of the commands in package.json. `--help` prints how to use a command; an
 * argument that it does not know ends it.
 */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

/**
 * Exit code after a wrong argument: that of programs that use getopt. sysexits.h says 64, but
 * hardly any program follows it.
 */
const USAGE_EXIT_CODE = 2;

/**
 * Reads this program's arguments. Ends the program with code 0 after `--help`, and with code 2
 * after an argument that it does not take.
 *
 * @param usage what `--help` prints; its first line shows how to call the command
 */
export function readArguments<const T extends ParseArgsOptionsConfig>(
  usage: string,
  options: T,
  { allowPositionals = false }: { readonly allowPositionals?: boolean } = {},
) {
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(`${usage.trim()}\n`);
    process.exit(0);
  }
  try {
    return parseArgs({ options, allowPositionals });
  } catch (error) {
    const [reason] = (error as Error).message.split('. ');
    process.stderr.write(`${reason}.\n\n${usage.trim()}\n`);
    process.exit(USAGE_EXIT_CODE);
  }
}
