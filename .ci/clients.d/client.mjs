// What @clickhouse/client reads from the embedded engine: node client.mjs HOST PORT PASSWORD DATABASE.
import { createClient } from '@clickhouse/client'

const [host, port, password, database] = process.argv.slice(2)
const options = { url: `http://${host}:${port}`, username: 'default', password, database }
const client = createClient(options)
const show = (name, value) => console.log(name, value)

const rows = async (query, more = {}, from = client) =>
  (await from.query({ query, format: 'JSONCompactEachRow', ...more })).json()
const one = async (query, more, from) => (await rows(query, more, from))[0][0]

async function code(query) {
  try {
    await rows(query)
  } catch (error) {
    return error.code
  }
  return 'no error'
}

for (const query of [
  'CREATE TABLE t (id UInt32, name String, value Nullable(Float64), version UInt32) ENGINE = ReplacingMergeTree(version) ORDER BY id',
  'CREATE TABLE copy AS t ENGINE = MergeTree ORDER BY id',
  'CREATE VIEW v AS SELECT * FROM t',
  'SYSTEM STOP MERGES t',
]) {
  await client.command({ query })
}
for (const version of [1, 2]) {
  const values = Array.from({ length: 1000 }, (_, id) => ({ id, name: `n'${id}`, value: id % 2 ? null : version, version }))
  await client.insert({ table: 't', values, format: 'JSONEachRow' })
  const days = [2, 3, 4].map((day) => ({ city: database, state: 'Delhi', day: `2026-01-0${day}`, aqi: 100 * version }))
  await client.insert({ table: 'vayu.city_day', values: days, format: 'JSONEachRow' })
}

const off = { clickhouse_settings: { final: 0 } }
show('versions', await one('SELECT toUInt32(count()) FROM t', off))
show('rows', await one('SELECT toUInt32(count()) FROM t'))
show('values', await one('SELECT toUInt32(sum(version)) FROM t'))
show('subquery', await one('SELECT toUInt32(count()) FROM (SELECT id FROM t)'))
show('join', await one('SELECT toUInt32(count()) FROM numbers(3) AS n JOIN t ON t.id = n.number'))
show('view', await one('SELECT toUInt32(count()) FROM v'))
show('city_day', await one('SELECT toUInt32(count()) FROM vayu.city_day WHERE city = {city:String} AND aqi = 200', { query_params: { city: database } }))
await client.command({ query: 'INSERT INTO copy SELECT * FROM t' })
show('insert_select', await one('SELECT toUInt32(count()) FROM copy'))
show('final_off_in_query', await one('SELECT toUInt32(count()) FROM t SETTINGS final = 0'))
const without = createClient({ ...options, ...off })
show('final_off_on_connection', await one('SELECT toUInt32(count()) FROM t', {}, without))
await without.close()
const query_params = { id: 7, names: ["n'7", 'x'] }
const [[name, value]] = await rows('SELECT name, value FROM t WHERE id = {id:UInt32} AND name IN {names:Array(String)}', { query_params })
show('parameter', name)
show('nullable', value)
const packed = createClient({ ...options, compression: { request: true, response: true } })
show('compressed', await one('SELECT toUInt32(count()) FROM t', {}, packed))
await packed.close()
const stream = await client.query({ query: 'SELECT number FROM numbers(300000)', format: 'JSONCompactEachRow' })
let seen = 0
for await (const part of stream.stream()) seen += part.length
show('streamed', seen)
show('failed', await code('SELECT throwIf(number = 900000) FROM numbers(1000000)'))
show('after_failure', await one('SELECT toUInt32(count()) FROM t'))
show('unknown_table', await code('SELECT * FROM nowhere'))
await client.close()
