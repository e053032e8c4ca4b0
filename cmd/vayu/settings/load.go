package settings

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vayu/internal/config"
	"vayu/internal/sqlstore/server"
)

// Bind registers flags for the settings with the given keys. It panics if a key is unknown, because all keys
// are literals in this program.
func Bind(flags *pflag.FlagSet, keys ...string) {
	if err := config.Bind(flags, Defaults(), keys...); err != nil {
		panic(err)
	}
}

// defaultFile is the configuration file that is read from the working directory. Other users must not be able
// to write this file, because it can name a library to load (setting engine.library).
const defaultFile = "vayu.yaml"

// Load returns the effective configuration of a command and its logger.
func Load(cmd *cobra.Command) (config.Loaded[Config], *slog.Logger, error) {
	file, err := cmd.Flags().GetString("config")
	if err != nil {
		return config.Loaded[Config]{}, nil, err
	}
	if file == "" {
		if _, err := os.Stat(defaultFile); err == nil {
			if reason := config.UnsafeReason(defaultFile); reason != "" {
				return config.Loaded[Config]{}, nil, fmt.Errorf("%s is not read: %s; name it with --config to read it", defaultFile, reason)
			}
			file = defaultFile
		} else if !errors.Is(err, os.ErrNotExist) {
			return config.Loaded[Config]{}, nil, fmt.Errorf("looking for %s: %w", defaultFile, err)
		}
	}
	loaded, err := config.Load(Defaults(), config.Sources{Flags: cmd.Flags(), Environ: os.Environ(), File: file})
	if err != nil {
		return loaded, nil, err
	}
	log := newLogger(loaded.Value.Log)
	for _, name := range loaded.Ignored {
		if strings.HasPrefix(name, "VAYU_TEST_") || name == KeyVariable || name == NewKeyVariable { // used by tests and commands
			continue
		}
		log.Warn("environment variable is not a setting", "name", name)
	}
	return loaded, log, nil
}

func newLogger(c LogConfig) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo // Validate has rejected anything else
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// LoadQuietly does the same as [Load], with a logger that logs only warnings and errors, unless log.level is set.
func LoadQuietly(cmd *cobra.Command) (Config, *slog.Logger, error) {
	loaded, log, err := Load(cmd)
	if err != nil {
		return Config{}, nil, err
	}
	if loaded.Origin("log.level") == "default" {
		quiet := loaded.Value.Log
		quiet.Level = "warn"
		log = newLogger(quiet)
	}
	return loaded.Value, log, nil
}

// KeyVariable is the environment variable with the API key for `vayu listen`. It is an alternative to the
// flag --key, because every user of a machine can read command lines.
const KeyVariable = "VAYU_API_KEY"

// NewKeyVariable is the environment variable with the new key for `vayu encryption rotate`. It must be set if
// the encryption key is a setting, and must not be set if the key is a file.
const NewKeyVariable = "VAYU_NEW_ENCRYPTION_KEY"

// WarnPlain logs a warning for each store to which this instance connects over a network without TLS.
func (c Config) WarnPlain(log *slog.Logger) {
	for _, store := range []struct {
		setting, add string
		hosts        []string
	}{
		{"clickhouse", "secure=true", c.ColumnStore().UnencryptedHosts()},
		{"state", "sslmode=verify-full", server.UnencryptedHosts(c.StateStore(false).DSN)},
	} {
		if len(store.hosts) > 0 {
			log.Warn("passwords and rows may cross the network unencrypted: the address does not ask for TLS",
				"setting", store.setting, "hosts", store.hosts, "add", store.add)
		}
	}
}
