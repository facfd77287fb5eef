// Package server is what the readers of databases on servers share: how they connect, and what is
// said of a server that does not answer; and how rows are changed with a journal, in the SQL of each.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/shell"
)

// asking is the key of what asks for passwords in a context.
type asking struct{}

// WithPassword is a context in which a server that wants a password of a role that has none can
// have it from a person; ask gives "" where nobody can be asked.
func WithPassword(ctx context.Context, ask func(question string) (string, error)) context.Context {
	return context.WithValue(ctx, asking{}, ask)
}

// connecting is how long a server may take to answer: one that was scaled to nothing
// takes seconds to start.
const connecting = 20 * time.Second

// Dial connects as a role, and asks for its password where it has none and the server wants one:
// the password is filled in for the next time.
func Dial[C any](ctx context.Context, name, role string, password *string, dial func(context.Context) (C, error), wantsPassword func(error) bool) (conn C, err error) {
	try := func() {
		limited, cancel := context.WithTimeout(ctx, connecting)
		defer cancel()
		conn, err = dial(limited)
	}
	try()
	if ask, ok := ctx.Value(asking{}).(func(string) (string, error)); ok && *password == "" && wantsPassword(err) {
		word, unasked := ask("Password of role " + role + " for " + name)
		if unasked != nil {
			return conn, unasked
		}
		if *password = word; word != "" {
			try()
		}
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return conn, err
}

// known are databases that were named, and their roles, by the names that stand for them: so the
// password of one is nowhere else.
var known, roles sync.Map

// Find is the database that a name stands for, nil where none was named so.
func Find[T any](name string) *T {
	of, _ := known.Load(name)
	found, _ := of.(*T)
	return found
}

// RoleOf is the role for a database that was named, "" for anything else.
func RoleOf(name string) string {
	of, _ := roles.Load(name)
	role, _ := of.(string)
	return role
}

// Register makes a name lead to a database. Commands have the role besides, where it is not the
// one that they would get without a word.
func Register[T any](name string, of *T, role, usual string) string {
	known.Store(name, of)
	roles.Store(name, role)
	word := name
	if role != usual {
		word = WithRole(name, role)
	}
	shell.SetTyped(name, word)
	return name
}

// WithRole is a name with a role.
func WithRole(name, role string) string {
	return strings.Replace(name, "://", "://"+url.User(role).String()+"@", 1)
}

// Sign is a connection over which to ask whether something was written to a server: it is in no
// transaction, so that it keeps the server from nothing.
type Sign struct {
	Ask   func(ctx context.Context) (string, error) // another text, when something was
	Close func() error
}

// LostError is the problem with a connection that was lost.
func LostError(name string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err, What: "the connection to " + name + " was lost",
		Next: "Try again. Check the network, and the log of the server.",
	}
}

// UnreachableError is the problem with a server to which no connection can be made; certificates
// is what to do where TLS failed.
func UnreachableError(name, role, certificates string, err error) error {
	if problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) {
		return err
	}
	why := "it does not answer"
	if refused, ok := errors.AsType[*net.OpError](err); ok {
		why = problem.Reason(refused.Err)
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		why = "the host " + lookup.Name + " is not known"
	}
	if words := strings.ToLower(err.Error()); strings.Contains(words, "tls") || strings.Contains(words, "certificate") {
		why = "TLS failed: " + certificates
	}
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s cannot be reached (role %s): %s", name, role, why),
		Next: "Check host and port, and that the server runs and accepts connections from here.",
	}
}
