// What @clickhouse/client may do as analyst, at its defaults: node analyst.mjs HOST PORT PASSWORD.
import { createClient } from '@clickhouse/client'

const [host, port, password] = process.argv.slice(2)
const options = { url: `http://${host}:${port}`, username: 'analyst', password }
const client = createClient(options)
const session = createClient({ ...options, session_id: 'clients' }) // temporary tables and SET need one
const show = (name, value) => console.log(name, value)

const rows = async (query, from = client) => (await from.query({ query, format: 'JSONCompactEachRow' })).json()
const one = async (query, from) => (await rows(query, from))[0][0]

async function code(query) {
  try {
    await client.command({ query })
  } catch (error) {
    return error.code
  }
  return 'no error'
}

show('database', await one('SELECT currentDatabase()'))
show('rows', await one("SELECT toUInt32(count()) FROM city_day WHERE city = 'clients'"))
show('view', await one("SELECT toUInt32(count()) FROM standard WHERE parameter = 'pm25'"))
await session.command({ query: 'SET max_threads = 1' })
show('setting', await one("SELECT toUInt32(getSetting('max_threads'))", session))
await session.command({ query: 'CREATE TEMPORARY TABLE mine (n UInt8)' })
await session.insert({ table: 'mine', values: [{ n: 1 }, { n: 2 }], format: 'JSONEachRow' })
show('temporary', await one('SELECT toUInt32(sum(n)) FROM mine', session))
const tables = (await rows('SHOW TABLES')).map((row) => row[0])
show('tables', ['city_day', 'daily', 'standard'].every((name) => tables.includes(name)))
show('private', tables.includes('attempt'))
const columns = await rows("SELECT comment FROM system.columns WHERE database = 'vayu' AND table = 'daily'")
show('comments', columns.length > 0 && columns.every((row) => row[0] !== ''))
show('drop', await code('DROP TABLE city_day'))
show('insert', await code("INSERT INTO city_day (city) VALUES ('x')"))
show('create', await code('CREATE TABLE t (n UInt8) ENGINE = Memory'))
show('url', await code("SELECT * FROM url('http://127.0.0.1/', 'CSV', 'a String')"))
show('attempt', await code('SELECT count() FROM attempt'))
show('limit', await code('SELECT max(number) FROM numbers(1000000000000)'))
await session.close()
await client.close()
