//go:build unix

package postgres_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	difference "github.com/google/go-cmp/cmp"
)

// attacker makes a role that may make objects in two schemas of a database and nothing else,
// and a function of that role that leaves a trace in the server's log, whatever becomes of the
// transaction.
func attacker(t *testing.T, url string) {
	t.Helper()
	execute(t, url, `do $$ begin if not exists (select from pg_roles where rolname = 'attacker') then create role attacker login; end if; end $$`,
		"create schema attack", "grant all on schema public, attack to attacker", "grant create on database "+databaseOf(url)+" to attacker")
	execute(t, asRole(url, "attacker"), `create function attack.trace() returns int language plpgsql immutable as $$ begin raise log '% CODE as %', 'FOREIGN', current_user; return 1; end $$`)
}

// traces counts what functions of the attacker left.
func traces(t *testing.T) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(serverFolder(t), "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), "FOREIGN CODE as postgres")
}

// everything is all that a role can make in a schema: a function and an operator for each of
// PostgreSQL's own, the operators that win by their exact types, domains named as types, views
// named as catalogs, and casts of its own types.
const everything = `do $$ declare o record; made int := 0; body text := $b$ declare x int; begin x := attack.trace(); return null; end $b$;
begin
  for o in select oprname, nullif(oprleft, 0)::regtype::text l, nullif(oprright, 0)::regtype::text r, oprresult::regtype::text x, row_number() over () n
    from pg_catalog.pg_operator where oprnamespace = 'pg_catalog'::regnamespace
    union all select a.op, a.l, a.r, a.x, 10000 + row_number() over () from (values ('||', 'oid', 'text', 'text'), ('||', 'text', 'oid', 'text'), ('||', 'name', 'text', 'text'), ('||', 'text', 'name', 'text'),
      ('||', '"char"', 'text', 'text'), ('||', 'bigint', 'text', 'text'), ('*', 'numeric', 'integer', 'numeric'), ('*', 'double precision', 'integer', 'double precision'), ('/', 'bigint', 'integer', 'bigint'),
      ('&', 'smallint', 'integer', 'integer'), ('<>', 'smallint', 'integer', 'boolean'), ('=', 'name', 'text', 'boolean'), ('<>', 'name', 'text', 'boolean'), ('!~', 'name', 'text', 'boolean'),
      ('=', '"char"', 'text', 'boolean'), ('<>', '"char"', 'text', 'boolean'), ('=', 'tid', 'tid', 'boolean'), ('>=', 'tid', 'tid', 'boolean'), ('->>', 'jsonb', 'text', 'text'), ('=', 'character varying', 'character varying', 'boolean'),
      ('=', 'character varying', 'text', 'boolean'), ('~~', 'name', 'text', 'boolean'), ('>', 'bigint', 'integer', 'boolean'), ('+', 'bigint', 'bigint', 'bigint'), ('=', 'record', 'record', 'boolean')) a(op, l, r, x)
  loop begin
    execute 'create function attack.f' || o.n || '(' || concat_ws(', ', o.l, o.r) || ') returns ' || o.x || ' language plpgsql immutable as ' || quote_literal(body);
    execute 'create operator public.' || o.oprname || ' (function = attack.f' || o.n || coalesce(', leftarg = ' || o.l, '') || coalesce(', rightarg = ' || o.r, '') || ')';
    made := made + 1;
  exception when others then null; end; end loop;
  for o in select proname, pg_get_function_identity_arguments(oid) args, prorettype::regtype::text x, proretset from pg_catalog.pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and prokind in ('f', 'a') loop begin
    execute 'create function public.' || quote_ident(o.proname) || '(' || o.args || ') returns ' || case when o.proretset then 'setof ' else '' end || o.x || ' language plpgsql immutable as '
      || quote_literal(case when o.proretset then $b$ declare x int; begin x := attack.trace(); return; end $b$ else body end);
    made := made + 1;
  exception when others then null; end; end loop;
  for o in select typname, typnamespace from pg_catalog.pg_type where typnamespace = 'pg_catalog'::regnamespace and typtype = 'b' and typelem = 0 loop begin
    execute 'create domain public.' || quote_ident(o.typname) || ' as pg_catalog.' || quote_ident(o.typname) || ' check (attack.trace() = 1)';
    execute 'create domain public.' || quote_ident('_' || o.typname) || ' as pg_catalog.' || quote_ident(o.typname) || '[] check (attack.trace() = 1)';
    made := made + 1;
  exception when others then null; end; end loop;
  for o in select relname from pg_catalog.pg_class where relnamespace = 'pg_catalog'::regnamespace and relkind in ('r', 'v') loop begin
    execute 'create view public.' || quote_ident(o.relname) || ' as select attack.trace() traced, c.* from pg_catalog.' || quote_ident(o.relname) || ' c';
    made := made + 1;
  exception when others then null; end; end loop;
  create type attack.own as (a text);
  create function attack.own_json(attack.own) returns json language plpgsql as $f$ begin perform attack.trace(); return '{}'; end $f$;
  create cast (attack.own as json) with function attack.own_json(attack.own) as implicit;
  if made < 3000 then raise exception 'only % objects', made; end if;
end $$`

// TestNothingForeignRuns: no command that reads as a superuser runs what another role made, in
// any kind of store, wherever the search path looks; a repair and its undo do not either.
func TestNothingForeignRuns(t *testing.T) {
	for _, name := range []string{"adk-go-2.2.0", "adk-python-v1", "kagent-0.10.0-rc3", "spring-ai-session-0.8"} {
		t.Run(name, func(t *testing.T) {
			url, _ := load(t, name)
			t.Chdir(t.TempDir())
			attacker(t, url)
			out, errors, _ := sessctl(t, "ls", url, "--format", "json")
			var list struct{ Sessions []struct{ ID string } }
			if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Sessions) == 0 {
				t.Fatalf("%v\n%s%s", err, out, errors)
			}
			first := list.Sessions[0].ID
			want, _, _ := sessctl(t, "check", url, "--format", "json")
			execute(t, asRole(url, "attacker"), everything)
			for i, path := range []string{`public, attack, pg_catalog`, `"$user", public`} {
				execute(t, urlOf(serverFolder(t), "postgres", "postgres"), "alter database "+databaseOf(url)+" set search_path = "+path)
				before := traces(t)
				execute(t, url, "select 1::oid || 'x'::text")
				if traces(t) == before {
					t.Fatal("a function of the attacker leaves no trace")
				}
				got, _, _ := sessctl(t, "check", url, "--format", "json")
				if diff := difference.Diff(variable.ReplaceAllString(want, ""), variable.ReplaceAllString(got, "")); i == 0 && diff != "" {
					t.Errorf("search_path %s: a check finds something else:\n%s", path, diff)
				}
				for _, words := range [][]string{
					{"check", url}, {"check", url + "&target_session_attrs=primary"}, {"check", url, "--deep", "--severity", "info"}, {"check", url, "--jobs", "2"}, {"check", url, "--shard", "1/2"}, {"check", url, "--since", "1d"},
					{"check", url, "--session", first}, {"check", url + "&search_path=public"}, {"ls", url}, {"ls", url, "--health"}, {"view", url, first}, {"view", url, first, "--model-input"},
					{"why", url, first}, {"why", url}, {"export", url}, {"export", url, "--session", first}, {"diff", url, url}, {"repair", url, "--dry-run"}, {"undo", url},
					{"repair", url, "--yes", "--assume-dead", "--allow", "lossy,prune,guesses,waiting,reorder", "--fail-on", "never"}, {"undo", url, "--yes"},
				} {
					before := traces(t)
					out, errors, code := sessctl(t, words...)
					if n := traces(t) - before; n > 0 {
						t.Errorf("search_path %s: sessctl %v ran foreign code %d times (exit code %d)\n%.500s%s", path, words, n, code, out, errors)
					}
					if code > 1 && words[0] != "undo" && (words[0] != "repair" || code != 2) {
						t.Errorf("search_path %s: sessctl %v: exit code %d\n%.500s%s", path, words, code, out, errors)
					}
				}
			}
		})
	}
}
