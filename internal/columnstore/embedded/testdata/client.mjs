// What the official Node client does against the embedded engine. Every line printed is compared by node_test.go.
import { createClient } from '@clickhouse/client'

const [url, password, database] = process.argv.slice(2)
const client = createClient({ url, username: 'default', password, database })
const say = (name, value) => console.log(name, JSON.stringify(value))

say('ping', (await client.ping()).success)
await client.command({ query: 'CREATE TABLE t (a UInt32, b String, at DateTime) ENGINE = MergeTree ORDER BY a' })
await client.insert({
  table: 't',
  format: 'JSONEachRow',
  values: [{ a: 1, b: 'Pune', at: '2026-01-02 03:04:05' }, { a: 2, b: "it's", at: '2026-01-02 03:04:06' }],
})
async function* many() {
  for (let a = 10; a < 1010; a++) yield [a, 'streamed', '2026-01-01 00:00:00']
}
const { Readable } = await import('node:stream')
await client.insert({ table: 't', format: 'JSONCompactEachRow', values: Readable.from(many(), { objectMode: true }) })

const rows = async (query, query_params, settings) =>
  (await client.query({ query, format: 'JSONEachRow', query_params, clickhouse_settings: settings })).json()
say('select', await rows('SELECT a, b FROM t WHERE b IN {names:Array(String)} ORDER BY a', { names: ['Pune', "it's"] }))
say('count', await rows('SELECT count() AS n FROM t WHERE a > {a:UInt32}', { a: 2 }))
say('setting', await rows("SELECT getSetting('max_threads') AS n", {}, { max_threads: 2 }))
say('json', (await (await client.query({ query: 'SELECT 1 AS one', format: 'JSON' })).json()).data)

const stream = await client.query({ query: 'SELECT number AS n FROM numbers(200000)', format: 'JSONEachRow' })
let seen = 0
for await (const chunk of stream.stream()) seen += chunk.length
say('streamed', seen)

const packed = createClient({ url, username: 'default', password, database, compression: { request: true, response: true } })
await packed.insert({ table: 't', format: 'JSONEachRow', values: [{ a: 3, b: 'packed', at: '2026-01-01 00:00:00' }] })
say('packed', await (await packed.query({ query: "SELECT a FROM t WHERE b = 'packed'", format: 'JSONEachRow' })).json())
await packed.close()

for (const query of ['SELECT * FROM nowhere', "SELECT 'a' 'b'"]) {
  try {
    await rows(query)
  } catch (error) {
    say('error', [error.code, error.type])
  }
}
const stranger = createClient({ url, username: 'default', password: 'wrong' })
try {
  await stranger.query({ query: 'SELECT 1' })
} catch (error) {
  say('stranger', [error.code, error.type])
}
await stranger.close()

const abort = new AbortController()
const endless = client.query({ query: 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)', abort_signal: abort.signal })
setTimeout(() => abort.abort(), 100)
try {
  await endless
} catch (error) {
  say('aborted', error.message)
}
await client.close()
