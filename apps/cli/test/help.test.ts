import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { EXIT_CODES, exitCodeLines } from '../src/exit-codes.ts'
import { createProgram } from '../src/program.ts'

function helpOf(command: Command): string {
  let text = ''
  const writeOut = (part: string) => {
    text += part
  }
  command.configureOutput({ writeOut, getOutHelpWidth: () => 500 }).outputHelp()
  return text
}

function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)]
}

test('help prints the help of the named command', async () => {
  const program = createProgram()
  const { commands = [] } = program.commands.find((command) => command.name() === 'items') ?? {}
  const update = commands.find((command) => command.name() === 'update') as Command
  const parts: string[] = []
  update.configureOutput({ writeOut: (part) => parts.push(part) })
  await program.parseAsync(['node', 'resource', 'help', 'items', 'update'])
  expect(parts.join('')).toMatch(/^Usage: resource items update \[options\] \[id\.\.\.\]\n/)
  await expect(program.parseAsync(['node', 'resource', 'help', 'items', 'mend'])).rejects.toThrow(
    'There is no command items mend',
  )
})

test('the help of every command has a description and examples, and mentions neither statuses nor headers', () => {
  const commands = withChildren(createProgram()).filter(({ commands }) => commands.length === 0)
  expect(commands.length).toBeGreaterThan(30)
  for (const command of commands) {
    const help = helpOf(command)
    const name = `${command.parent?.name()} ${command.name()}`
    expect([name, help]).toEqual([name, expect.stringMatching(/Examples?:\n {2}\$ /)])
    expect([name, command.summary()]).toEqual([name, expect.stringMatching(/^[A-Z]/)])
    const own = help.slice(0, help.indexOf('Global Options:'))
    expect([name, own]).toEqual([
      name,
      expect.not.stringMatching(
        /(?<!default: )\b[45]\d\d\b|ETag|If-Match|X-Total|Idempotency-Key|\bHTTP|\b(GET|PUT|POST|PATCH|DELETE)\b/,
      ),
    ])
  }
})

test('the exit codes are one table, in the help and in the README', () => {
  expect(helpOf(createProgram())).toContain(`Exit codes:\n${exitCodeLines()}\n`)
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const rows = [...readme.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, code, meaning]) => [Number(code), meaning])
  const wanted = Object.values(EXIT_CODES).map(({ code, meaning }) => [
    code,
    meaning.replace('--if-version', '`--if-version`'),
  ])
  expect(rows).toEqual(wanted)
})
