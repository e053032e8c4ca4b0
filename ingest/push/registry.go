package push

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	lru "github.com/hashicorp/golang-lru/v2"

	"vayu/internal/columnstore"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

const (
	// maxStations is the largest number of stations of an account in a world.
	maxStations = 10_000
	// cacheLifetime is the maximum age of cached stations. It is short because another instance may register stations
	// of the same account.
	cacheLifetime = 10 * time.Second
	// freshLifetime is the maximum age of the cached stations if a reading names a station that is not among them.
	freshLifetime = time.Second
	// registryTimeout bounds the reads and writes of one call of registry.register or registry.stations.
	registryTimeout = 5 * time.Second
	// cachedAccounts is the number of accounts whose stations are cached.
	cachedAccounts = 256
)

// station is a registered station of an account.
type station struct {
	air.OwnStation

	account string
}

// newStation returns a station of an account with the defaults: private, and of the kind sensor.
func newStation(account, name string) station {
	s := station{account: account}
	s.ID, s.Station, s.Name, s.Kind = air.OwnStationID(account, name), name, name, air.Sensor.String()
	return s
}

// place sets the position, and derives the city and state from it.
func (s *station) place(latitude, longitude float64) {
	s.Latitude, s.Longitude = latitude, longitude
	at := gazetteer.Locate("", "", s.point(), false)
	s.City, s.State = at.City, at.State
}

func (s *station) point() geo.Point { return geo.Point{Latitude: s.Latitude, Longitude: s.Longitude} }

// public returns the description that the table `station` gets if the station is published. The kind is always sensor.
// If an account could declare its station a monitor, the station would change the AQI of its city.
func (s *station) public() air.Station {
	return air.Station{
		ID: s.ID, Name: s.Name, City: s.City, State: s.State, Latitude: s.Latitude, Longitude: s.Longitude,
		Kind: air.Sensor, Attribution: s.Attribution, Licence: s.Licence,
	}
}

// accountStations are the stations of one account, by the names that the account gave them. The map is immutable.
type accountStations struct {
	byName   map[string]*station
	loadedAt time.Time
}

// registry reads and writes the table `pushed_station` of one world. It is safe for concurrent use.
type registry struct {
	conn     driver.Conn
	database string
	accounts *lru.Cache[string, accountStations]
	// locks serialise the loads and registrations of each account. The hash of the account selects the lock.
	locks [64]sync.Mutex
	seed  maphash.Seed
}

func newRegistry(conn driver.Conn, database string) (*registry, error) {
	accounts, err := lru.New[string, accountStations](cachedAccounts)
	return &registry{conn: conn, database: database, accounts: accounts, seed: maphash.MakeSeed()}, err
}

func (r *registry) lock(account string) *sync.Mutex {
	return &r.locks[maphash.String(r.seed, account)%uint64(len(r.locks))]
}

// stations returns the registered stations of an account, by the names that the account gave them. It uses the cache if
// the entry is younger than maxAge. The caller must not change the map.
func (r *registry) stations(ctx context.Context, account string, maxAge time.Duration) (map[string]*station, error) {
	if known, ok := r.accounts.Get(account); ok && time.Since(known.loadedAt) < maxAge {
		return known.byName, nil
	}
	ctx, cancel := context.WithTimeout(ctx, registryTimeout)
	defer cancel()
	lock := r.lock(account)
	lock.Lock()
	defer lock.Unlock()
	if known, ok := r.accounts.Get(account); ok && time.Since(known.loadedAt) < maxAge {
		return known.byName, nil // another caller has just read them
	}
	return r.load(ctx, account)
}

// load reads the stations of an account from ClickHouse, and caches them. The caller has locked the account's mutex.
func (r *registry) load(ctx context.Context, account string) (map[string]*station, error) {
	began := time.Now()
	rows, err := r.conn.Query(ctx, `SELECT station, id, name, city, state, latitude, longitude, toString(kind), licence, attribution, published
		FROM `+r.database+`.pushed_station FINAL WHERE account = {account:String}`, clickhouse.Named("account", account))
	if err != nil {
		return nil, fmt.Errorf("reading registered stations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	byName := make(map[string]*station)
	for rows.Next() {
		s := &station{account: account}
		var published uint8
		if err := rows.Scan(&s.Station, &s.ID, &s.Name, &s.City, &s.State, &s.Latitude, &s.Longitude, &s.Kind, &s.Licence, &s.Attribution, &published); err != nil {
			return nil, fmt.Errorf("reading a registered station: %w", err)
		}
		s.Published = published == 1
		byName[s.Station] = s
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading registered stations: %w", err)
	}
	r.accounts.Add(account, accountStations{byName, began})
	return byName, nil
}

// register calls the function `choose` with the stored stations of the account. It stores and caches the stations that
// `choose` returns, and returns all stations of the account. If a station is registered several times, the latest
// registration is valid. `at` is the time of the new registrations; if it is zero, they get the time of ClickHouse's
// clock. If the account would have more than maxStations stations, the error is a *schema.Problem. register returns an
// error of `choose` unchanged.
func (r *registry) register(ctx context.Context, account string, at time.Time, choose func(known map[string]*station) ([]station, error)) (map[string]*station, error) {
	ctx, cancel := context.WithTimeout(ctx, registryTimeout)
	defer cancel()
	lock := r.lock(account)
	lock.Lock()
	defer lock.Unlock()
	known, err := r.load(ctx, account)
	if err != nil {
		return nil, err
	}
	added, err := choose(known)
	if err != nil || len(added) == 0 {
		return known, err
	}
	all := maps.Clone(known)
	for i := range added {
		all[added[i].Station] = &added[i]
	}
	if len(all) > maxStations {
		return nil, schema.NewProblem(schema.Conflict, "station", fmt.Sprintf("An account can register at most %d stations.", maxStations))
	}
	columns, values := pushedColumns, pushedSlices(added)
	if !at.IsZero() {
		columns = append(slices.Clip(columns), clickhouse.ColumnNameAndType{Name: "registered_at", Type: "DateTime64(3, 'UTC')"})
		values = append(values, slices.Repeat([]time.Time{at}, len(added)))
	}
	if err := columnstore.Insert(ctx, r.conn, r.database+".pushed_station", columnstore.NewToken(), columns, values); err != nil {
		return nil, fmt.Errorf("storing %d registered stations: %w", len(added), err)
	}
	r.accounts.Add(account, accountStations{all, time.Now()})
	return all, nil
}

var pushedColumns = []clickhouse.ColumnNameAndType{
	{Name: "account", Type: "String"}, {Name: "station", Type: "String"}, {Name: "id", Type: "String"}, {Name: "name", Type: "String"},
	{Name: "city", Type: "String"}, {Name: "state", Type: "String"}, {Name: "latitude", Type: "Float64"}, {Name: "longitude", Type: "Float64"},
	{Name: "kind", Type: "String"}, {Name: "licence", Type: "String"}, {Name: "attribution", Type: "String"}, {Name: "published", Type: "UInt8"},
}

// pushedSlices converts stations to columns: one slice of values for each of pushedColumns.
func pushedSlices(stations []station) []any {
	n := len(stations)
	text := func(field func(*station) string) []string {
		out := make([]string, n)
		for i := range stations {
			out[i] = field(&stations[i])
		}
		return out
	}
	latitude, longitude, published := make([]float64, n), make([]float64, n), make([]uint8, n)
	for i := range stations {
		latitude[i], longitude[i] = stations[i].Latitude, stations[i].Longitude
		if stations[i].Published {
			published[i] = 1
		}
	}
	return []any{
		text(func(s *station) string { return s.account }),
		text(func(s *station) string { return s.Station }),
		text(func(s *station) string { return s.ID }),
		text(func(s *station) string { return s.Name }),
		text(func(s *station) string { return s.City }),
		text(func(s *station) string { return s.State }),
		latitude, longitude,
		text(func(s *station) string { return s.Kind }),
		text(func(s *station) string { return s.Licence }),
		text(func(s *station) string { return s.Attribution }),
		published,
	}
}
