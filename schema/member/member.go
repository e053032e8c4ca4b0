// Package member has the roles of members, and the wire types about them. Members are people of an account who sign in
// with a link in a mail.
package member

import (
	"slices"

	"vayu/schema"
)

// Role is a role of members: its name, and its scopes in each mode (live and sandbox).
type Role struct {
	Role    string         `json:"role"`
	Live    []schema.Scope `json:"live"`
	Sandbox []schema.Scope `json:"sandbox"`
}

// Scopes returns the scopes of a role in a world (live or sandbox).
func (r Role) Scopes(w schema.World) []schema.Scope {
	if w == schema.Sandbox {
		return r.Sandbox
	}
	return r.Live
}

// Owner is the role with every scope of a customer: all but sources:read, which is for operators.
const Owner = "owner"

// Roles returns every role, the role with the most scopes first.
func Roles() []Role {
	all := slices.DeleteFunc(slices.Clone(schema.Scopes), func(s schema.Scope) bool { return s == schema.SourcesRead })
	build := []schema.Scope{
		schema.AQIRead, schema.RechargeRead, schema.VerifyRead, schema.WebhooksManage, schema.AccountRead, schema.ReadingsWrite, schema.ExportRead, schema.AlertsManage,
	}
	money := []schema.Scope{schema.RechargeWrite, schema.RechargeRead, schema.VerifyWrite, schema.VerifyRead, schema.AccountRead}
	read := []schema.Scope{schema.AQIRead, schema.RechargeRead, schema.VerifyRead, schema.AccountRead}
	return []Role{{Owner, all, all}, {"developer", build, all}, {"finance", money, money}, {"viewer", read, read}}
}

// RoleOf returns the role with the given name. It returns false if there is none.
func RoleOf(name string) (Role, bool) {
	all := Roles()
	i := slices.IndexFunc(all, func(r Role) bool { return r.Role == name })
	if i < 0 {
		return Role{}, false
	}
	return all[i], true
}

// Member is a person of an account. Times are RFC 3339 in UTC, in whole seconds.
type Member struct {
	ID           string  `json:"id"`
	Email        string  `json:"email"`
	Role         string  `json:"role"`
	CreatedAt    string  `json:"created_at"`
	LastSignInAt *string `json:"last_sign_in_at"` // null before the first sign-in
	// KeyIDs are the ids of the member's keys, one for each mode. The member acts with the rights of these keys, and
	// the audit log names them as actors.
	KeyIDs KeyIDs `json:"key_ids"`
}

// KeyIDs are the ids of the keys of a member.
type KeyIDs struct {
	Live    string `json:"live"`
	Sandbox string `json:"sandbox"`
}

// List is the reply to GET /v1/members: all members, and the roles that exist.
type List struct {
	Status string   `json:"status"`
	Data   []Member `json:"data"`
	Roles  []Role   `json:"roles"`
}

// Reply is a reply about one member.
type Reply struct {
	Status string `json:"status"`
	Data   Member `json:"data"`
}

// LinkSent is the reply to POST /v1/sign-in-links, whether or not the address is that of a member.
type LinkSent struct {
	Status    string `json:"status"`
	ExpiresAt string `json:"expires_at"`
}
