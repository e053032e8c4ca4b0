package backup

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vayu/cmd/vayu/settings"
	"vayu/internal/config"
	"vayu/internal/encryption"
)

func TestABackupHasTheKeyOfItsRows(t *testing.T) {
	t.Parallel()
	key := func(fill byte) []byte {
		return append(base64.StdEncoding.AppendEncode(nil, bytes.Repeat([]byte{fill}, 32)), '\n')
	}
	open := func(fill byte) *encryption.Cipher {
		box, err := encryption.Open(config.NewSecret(string(key(fill))), "")
		if err != nil {
			t.Fatal(err)
		}
		return box
	}
	owner, other := open(1).KeyID(), open(2).KeyID()
	for name, c := range map[string]struct {
		owner string
		files map[string][]byte
		where string
		want  string // in the error
	}{
		"nothing is sealed":      {"", nil, "", ""},
		"its key":                {owner, map[string][]byte{encryptionKey: key(1)}, keyInBackup, ""},
		"a rotation was killed":  {owner, map[string][]byte{encryptionKey: key(2), encryptionKey + ".next-" + owner: key(1)}, keyInBackup, ""},
		"a key of another store": {owner, map[string][]byte{encryptionKey: key(2)}, "", "encrypted with the key " + owner + ", and this instance has " + other},
		"the key is lost":        {owner, nil, "", "this instance has none"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, dir := settings.Defaults(), t.TempDir()
			cfg.Data = t.TempDir()
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(cfg.Data, file), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			apart, apartErr := backUpKey(NewBackup(), cfg, dir, c.owner, false)
			if wantApart := strings.ReplaceAll(c.where, keyInBackup, keyApart); apart != wantApart || (apartErr == nil) != (c.want == "") {
				t.Errorf("a backup in clear: got %q, %v, want %q", apart, apartErr, wantApart)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("a backup in clear has %v, %v", entries, err)
			}
			where, err := backUpKey(NewBackup(), cfg, dir, c.owner, true)
			if where != c.where || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, %v, want %q, %q", where, err, c.where, c.want)
			}
			copied, _ := os.ReadFile(filepath.Join(dir, encryptionKey))
			if (c.where == keyInBackup) != bytes.Equal(copied, key(1)) {
				t.Errorf("the backup has the key %q", copied)
			}
		})
	}
}
