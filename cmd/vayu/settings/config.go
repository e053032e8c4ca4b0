// Package settings has the settings of Vayu, and the flags, environment variables and file that set them.
package settings

import (
	"cmp"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vayu/dispatch"
	"vayu/ingest/monitor"
	"vayu/ingest/readinglog"
	"vayu/ingest/source"
	"vayu/internal/access"
	"vayu/internal/access/signup"
	"vayu/internal/agefile"
	"vayu/internal/columnstore"
	"vayu/internal/config"
	"vayu/internal/httpapi/server"
	"vayu/internal/sqlstore"
	"vayu/internal/topic/broker"
	"vayu/internal/tracing"
	"vayu/pipeline/airquality/quality"
	"vayu/pipeline/recharge"
	"vayu/pipeline/verify"
	"vayu/query/public"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/migrations/clickhouse"
)

// Config has all settings. A flag takes precedence over an environment variable, and an environment variable over the
// file. Defaults come last; see package config.
type Config struct {
	Data   string         `yaml:"data" help:"directory of all data of Vayu"`
	Roles  []string       `yaml:"roles" help:"roles of this instance: api, ingest, pipeline, dispatch"`
	Listen config.Address `yaml:"listen" help:"address of the API"`
	// InternalListen is the address of the internal listener. checkInternal validates it, and InternalAddress
	// interprets it.
	InternalListen string `yaml:"internal-listen" help:"address of metrics, readiness in detail and profiles; empty for loopback at the port of listen plus 1000; off, or public for the address of the API"`

	DrainDelay   time.Duration       `yaml:"drain-delay" help:"how long a stopping instance still serves requests while /readyz reports not ready"`
	PublicURL    string              `yaml:"public-url" help:"base URL of the API for clients, such as https://api.example.com; empty for the address of listen"`
	InsecureHTTP bool                `yaml:"insecure-http" help:"serve plain HTTP to other machines too"`
	Sources      []string            `yaml:"sources" help:"live sources of air quality, or none"`
	SourceDir    string              `yaml:"source-dir" help:"folder of descriptions of sources, *.yaml; empty for DATA/sources"`
	ClickHouse   config.DSN          `yaml:"clickhouse" help:"ClickHouse server, clickhouse://… or http://…; empty for the embedded engine"`
	AnalystDSN   config.DSN          `yaml:"clickhouse-analyst" help:"ClickHouse server with the user and password of an analyst, as whom vayu sql reads"`
	ClickHouseCA string              `yaml:"clickhouse-ca" help:"PEM file of authorities whose certificates a ClickHouse server may have, beside the system's"`
	Cluster      string              `yaml:"cluster" help:"ClickHouse cluster on which the tables are replicated and distributed"`
	State        config.DSN          `yaml:"state" help:"state store, postgres://…; empty for SQLite in the data directory"`
	Encryption   config.Secret       `yaml:"encryption-key" help:"32 bytes as base64 that encrypt secrets in the state store; made at first start when absent"`
	Kafka        []string            `yaml:"kafka" help:"Kafka brokers, host:port, that carry events; empty for none"`
	RateLimits   config.Switch       `yaml:"rate-limits" help:"on or off; off is for measurements"`
	Proxies      []string            `yaml:"proxies" help:"networks of proxies whose X-Forwarded-For is trusted"`
	Origins      map[string][]string `yaml:"origins" help:"origins of web pages that may read with the keys of an account, by its id"`
	Public       public.Setting      `yaml:"public" help:"world whose current air everyone may read without a key below /public: live or sandbox; empty for none"`
	PerAddress   int                 `yaml:"connections-per-address" help:"open connections of one client address, but for proxies and this machine; 0 for no limit"`
	CityKinds    []string            `yaml:"city-kinds" help:"kinds of stations in a city's AQI: reference, or reference and sensor"`
	PinCodes     string              `yaml:"pin-codes" help:"file of post offices and their positions, pincodes.json.gz; empty for the file beside the program"`

	Quality quality.Settings `yaml:"quality"`

	TLS      server.TLSConfig    `yaml:"tls"`
	Store    sqlstore.Settings   `yaml:"state-store"`
	Access   access.Settings     `yaml:"access"`
	Signup   signup.Settings     `yaml:"signup"`
	Webhook  dispatch.Settings   `yaml:"webhook"`
	EventLog broker.Settings     `yaml:"event-log"`
	Readings readinglog.Settings `yaml:"reading-log"`
	Recharge recharge.Settings   `yaml:"recharge"`
	Verify   verify.Settings     `yaml:"verify"`
	Log      LogConfig           `yaml:"log"`
	Trace    tracing.Settings    `yaml:"trace"`
	Backup   BackupConfig        `yaml:"backup"`
	Engine   columnstore.Config  `yaml:"engine"`
	Source   source.Config       `yaml:"source"`
}

// LogConfig configures the level and the format of the log.
type LogConfig struct {
	Level  string `yaml:"level" help:"debug, info, warn or error"`
	Format string `yaml:"format" help:"text or json"`
}

// BackupConfig configures the encryption of backups.
type BackupConfig struct {
	Recipient string `yaml:"recipient" help:"public keys of age, age1…, to which backups are encrypted; empty for none"`
}

// Validate checks that backups can be encrypted to the recipients. It implements config.Validator.
func (c BackupConfig) Validate() []error {
	var f config.Faults
	if c.Recipient != "" {
		_, err := agefile.Recipients(c.Recipient)
		f.CheckError(err, "recipient")
	}
	return f
}

// Validate checks that level and format are known. It implements config.Validator.
func (c LogConfig) Validate() []error {
	var f config.Faults
	err := new(slog.Level).UnmarshalText([]byte(c.Level))
	f.Check(err == nil, "level", "%q must be debug, info, warn or error", c.Level)
	f.Check(c.Format == "text" || c.Format == "json", "format", "%q is neither text nor json", c.Format)
	return f
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		Data:       "data",
		Roles:      slices.Clone(roles),
		Listen:     "127.0.0.1:8080",
		Sources:    []string{"cpcb"},
		CityKinds:  []string{air.Reference.String()},
		RateLimits: true,
		PerAddress: 256,
		Store:      sqlstore.DefaultSettings(),
		Access:     access.DefaultSettings(),
		Signup:     signup.DefaultSettings(),
		Webhook:    dispatch.DefaultSettings(),
		EventLog:   broker.DefaultSettings(),
		Readings:   readinglog.DefaultSettings(),
		Recharge:   recharge.DefaultSettings(),
		Verify:     verify.DefaultSettings(),
		Log:        LogConfig{Level: "info", Format: "text"},
		Trace:      tracing.DefaultSettings(),
		Engine:     columnstore.Default(),
		Source:     source.DefaultConfig(),
	}
}

// Validate checks the settings of Config itself, and combinations of settings. It implements config.Validator.
func (c Config) Validate() []error {
	var f config.Faults
	f.Check(c.Data != "", "data", "a directory is needed")
	all, err := c.Catalogue()
	f.CheckError(err, "source-dir")
	if err == nil {
		_, err = all.Parse(strings.Join(c.Sources, ","))
		f.CheckError(err, "sources")
	}
	_, err = air.ParseCityKinds(c.CityKinds)
	f.CheckError(err, "city-kinds")
	f.Check(c.Cluster == "" || c.ClickHouse != "", "cluster", "a cluster needs a server: set clickhouse")
	f.Check(c.ClickHouseCA == "" || c.ClickHouse != "", "clickhouse-ca", "an authority needs a server: set clickhouse")
	f.Check(c.AnalystDSN == "" || c.ClickHouse != "", "clickhouse-analyst", "the embedded engine has an analyst of its own: set clickhouse too")
	u, err := url.Parse(c.PublicURL)
	f.Check(c.PublicURL == "" || err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" && !strings.HasSuffix(c.PublicURL, "/"),
		"public-url", "must be a URL such as https://api.example.com, without a slash at its end")
	c.checkRoles(&f)
	c.checkInternal(&f)
	f.Check(c.DrainDelay >= 0, "drain-delay", "must not be negative")
	_, err = config.Networks(c.Proxies)
	f.CheckError(err, "proxies")
	for account, origins := range c.Origins {
		f.Check(strings.HasPrefix(account, "acc_"), "origins", "%q is not the id of an account", account)
		for _, origin := range origins {
			f.CheckError(config.CheckOrigin(origin), "origins")
		}
	}
	_, known := c.Access.Plans[c.Signup.Plan]
	f.Check(known || c.Signup.Mode == "off", "signup.plan", "%q is none of access.plans", c.Signup.Plan)
	f.Check(c.PerAddress >= 0, "connections-per-address", "must not be negative")
	return f
}

// SourcesOf returns the names of the sources of a world: the configured sources of the live world, or the simulator of
// the sandbox.
func (c Config) SourcesOf(w schema.World) []string {
	if w == schema.Live {
		return c.LiveSources()
	}
	all, _ := c.Catalogue()
	return all.NamesOf(w)
}

// LiveSources returns the configured live sources without duplicates. It ignores errors, because Validate has
// rejected invalid lists.
func (c Config) LiveSources() []string {
	all, _ := c.Catalogue()
	names, _ := all.Parse(strings.Join(c.Sources, ","))
	return names
}

// Catalogue returns all sources: the built-in ones, and those that files in the folder source-dir describe.
func (c Config) Catalogue() (*source.Catalogue, error) {
	return source.Open(c.Source, c.SourceFolder(), c.SourceDir != "")
}

// SourceFolder returns the folder of descriptions of sources.
func (c Config) SourceFolder() string { return cmp.Or(c.SourceDir, filepath.Join(c.Data, "sources")) }

// SourceLimits returns, by source name, the limits beyond which the monitor reports a problem with a world's source.
func (c Config) SourceLimits(w schema.World) (map[string]monitor.Limits, error) {
	all, _ := c.Catalogue() // no error, because Validate has rejected an invalid catalogue
	return all.Limits(w, c.LiveSources(), time.Now())
}

// StationKinds returns the kinds of stations from which the index of a city is computed. It ignores the error,
// because Validate has rejected invalid lists.
func (c Config) StationKinds() []air.StationKind {
	kinds, _ := air.ParseCityKinds(c.CityKinds)
	return kinds
}

// ColumnStore returns the configuration of ClickHouse.
func (c Config) ColumnStore() columnstore.Config {
	e := c.Engine
	e.DSN, e.AnalystDSN, e.CA, e.Cluster, e.Data = c.ClickHouse, c.AnalystDSN, c.ClickHouseCA, c.Cluster, c.Data
	e.Private = clickhouse.Private
	for _, w := range schema.Worlds {
		e.Readable = append(e.Readable, w.Database())
	}
	return e
}

// StateStore returns the configuration of the state store. `share` is true for a command that can run beside a service.
func (c Config) StateStore(share bool) sqlstore.Config {
	return sqlstore.Config{DSN: c.State, Data: c.Data, Share: share, Settings: c.Store}
}

// CallLimits returns the limits of API calls. If the setting rate-limits is off, it returns no rate limits.
func (c Config) CallLimits() access.Settings {
	a := c.Access
	if !c.RateLimits {
		a.Rate, a.MoneyRate = 0, 0
	}
	return a
}
