package encryption

import (
	"fmt"
	"strconv"
	"strings"

	"vayu/internal/sqlstore"
)

// pageRows is the number of rows that a key rotation reads at once. It is small, because values can have megabytes.
const pageRows = 64

// encryptedRow is an encrypted value and the primary key of its row.
type encryptedRow struct {
	key   []string
	value []byte
}

// reencrypt decrypts every value of the column with the cipher `old` and encrypts it with the cipher `next`. It calls
// `page` after each page of rows, and returns the number of values. An error names the row that cannot be decrypted.
func (c Column) reencrypt(tx *sqlstore.Tx, old, next *Cipher, page func()) (n int64, err error) {
	ask, change := c.statements()
	after := make([]any, len(c.Key)) // empty strings come before all keys, because no id is empty
	for i := range after {
		after[i] = ""
	}
	for {
		rows, err := sqlstore.All(tx, c.scan, ask, after...)
		if err != nil {
			return n, fmt.Errorf("reading table %q, column %q: %w", c.Table, c.Name, err)
		}
		for _, row := range rows {
			args := make([]any, 0, len(c.Key)+1)
			for i, part := range row.key {
				after[i] = part
				args = append(args, part)
			}
			plain, err := c.Decrypt(old, row.value, row.key...)
			if err != nil {
				return n, fmt.Errorf("table %q, row %q, column %q: %w", c.Table, strings.Join(row.key, "/"), c.Name, err)
			}
			if _, err := tx.Exec(change, append(args, c.Encrypt(next, plain, row.key...))...); err != nil {
				return n, fmt.Errorf("re-encrypting table %q, row %q, column %q: %w", c.Table, strings.Join(row.key, "/"), c.Name, err)
			}
			n++
		}
		page()
		if len(rows) < pageRows {
			return n, nil
		}
	}
}

// statements returns two SQL statements: `ask` reads a page of values, and `change` updates one value.
func (c Column) statements() (ask, change string) {
	marks, equal := make([]string, len(c.Key)), make([]string, len(c.Key))
	for i, name := range c.Key {
		marks[i] = "$" + strconv.Itoa(i+1)
		equal[i] = name + " = " + marks[i]
	}
	key := strings.Join(c.Key, ", ")
	ask = "SELECT " + key + ", " + c.Name + " FROM " + c.Table +
		" WHERE length(" + c.Name + ") > 0 AND (" + key + ") > (" + strings.Join(marks, ", ") + ")" +
		" ORDER BY " + key + " LIMIT " + strconv.Itoa(pageRows)
	change = "UPDATE " + c.Table + " SET " + c.Name + " = $" + strconv.Itoa(len(c.Key)+1) + " WHERE " + strings.Join(equal, " AND ")
	return ask, change
}

func (c Column) scan(row sqlstore.Scanner) (encryptedRow, error) {
	s := encryptedRow{key: make([]string, len(c.Key))}
	into := make([]any, 0, len(c.Key)+1)
	for i := range s.key {
		into = append(into, &s.key[i])
	}
	err := row.Scan(append(into, &s.value)...)
	return s, err
}
