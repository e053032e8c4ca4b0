package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vayu/internal/api"
	"vayu/schema"
)

// keyFile holds the keys that were made at first start, in the data directory.
const keyFile = "keys.json"

// keys is one key for each world. A key that came from the configuration is
// never written or printed.
type keys struct {
	Live    string  `json:"live"`
	Sandbox string  `json:"sandbox"`
	made    [2]bool // by world: the key is from the key file, so it may be shown
}

// loadKeys takes the configured keys, and makes and keeps the ones that are
// missing.
func loadKeys(cfg Config) (keys, error) {
	path := filepath.Join(cfg.Data, keyFile)
	var k keys
	stored, err := os.ReadFile(path)
	if err == nil {
		if err := json.Unmarshal(stored, &k); err != nil {
			return k, fmt.Errorf("%s is damaged (%w); mend or remove it (new keys are made then), or set VAYU_API_KEY and VAYU_SANDBOX_KEY", path, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return k, fmt.Errorf("reading the keys: %w", err)
	}
	before := k
	configured := [2]string{cfg.APIKey.Reveal(), cfg.SandboxKey.Reveal()}
	for _, w := range schema.Worlds {
		if key := k.of(w); configured[w] == "" && *key == "" {
			*key = api.NewKey(w)
		}
	}
	if k != before {
		if err := writeKeys(path, k); err != nil {
			return k, err
		}
	}
	for _, w := range schema.Worlds {
		k.made[w] = configured[w] == ""
		if configured[w] != "" {
			*k.of(w) = configured[w]
		}
	}
	return k, nil
}

func (k *keys) of(w schema.World) *string {
	if w == schema.Sandbox {
		return &k.Sandbox
	}
	return &k.Live
}

// shown is the key as it may stand in a printed command: itself when Vayu made
// it, else the variable that holds it.
func (k *keys) shown(w schema.World) string {
	switch {
	case k.made[w]:
		return *k.of(w)
	case w == schema.Sandbox:
		return "$VAYU_SANDBOX_KEY"
	}
	return "$VAYU_API_KEY"
}

// writeKeys replaces the key file in one step, readable by its owner only.
func writeKeys(path string, k keys) error {
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return fmt.Errorf("keeping the keys: %w", err)
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("keeping the keys: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("keeping the keys: %w", err)
	}
	return nil
}
