//go:build unix

package postgres_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	difference "github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/postgres"
	"github.com/sessctl/sessctl/internal/store/table"
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

// TestForeignPartsOfTables: what another role hung on the runtime's tables runs in no command
// of a superuser. Reading goes on where a query runs nothing of it; a repair that would run it
// says what, and waits for a word.
func TestForeignPartsOfTables(t *testing.T) {
	const reads, refuses = 1, 3
	for _, tt := range []struct {
		name, part string
		check      int
		told       string // by a check that is refused, or by a repair
	}{
		{"index", "create index foreign_part on events ((attack.trace()))", refuses, "an index or the statistics of its table events would run the function attack.trace() of the role attacker"},
		{"predicate", "create index foreign_part on events (id) where attack.trace() = 1", refuses, "would run the function attack.trace()"},
		{"statistics", "create statistics foreign_part on (attack.trace()), id from events", refuses, "would run the function attack.trace()"},
		{"operator", "create operator attack.@@@@ (function = attack.two, leftarg = text, rightarg = text); create index foreign_part on events ((id operator(attack.@@@@) id))", refuses, "attack.two(text,text)"},
		{"exclusion", "alter table events add constraint foreign_part exclude using btree ((attack.unlike(id)) with =)", refuses, "attack.unlike(text)"},
		{"check", "alter table events add constraint foreign_part check (attack.trace() = 1) not valid", reads, "its table events would run the function attack.trace() of the role attacker"},
		{"default", "alter table events add column foreign_part int; alter table events alter foreign_part set default attack.trace()", reads, "the function attack.trace()"},
		{"generated", "alter table events add column foreign_part text generated always as (attack.two(id, id)) stored", reads, "cannot be repaired in place"},
		{"domain", "create domain attack.kept as text; alter table events add column foreign_part attack.kept; alter domain attack.kept add check (attack.two(value, value) is not null) not valid", reads, "attack.two(text,text)"},
		{"key's domain", "create domain attack.key as text; alter table events alter session_id type attack.key; alter domain attack.key add check (attack.two(value, value) is not null) not valid", reads, "attack.two(text,text)"},
		{"trigger", "create trigger foreign_part before insert or update or delete on events for each statement execute function attack.fire()", reads, "foreign_part (before insert delete update on events, function attack.fire() of the role attacker)"},
		{"condition", "create trigger foreign_part after insert on events for each row when (attack.trace() = 1) execute function pg_catalog.suppress_redundant_updates_trigger()", reads, "attack."},
		{"rule", "create rule foreign_part as on insert to events do also select attack.trace()", reads, "a rule rewrites"},
		{"policy", "create policy foreign_part on events using (attack.trace() = 1); alter table events enable row level security", reads, "the function attack.trace()"},
		{"forced policy", "create policy foreign_part on events using (attack.trace() = 1); alter table events enable row level security; alter table events force row level security", reads, "the function attack.trace()"},
		{"view", "alter table events rename to real; create view events as select *, attack.trace() from real", refuses, "is a view"},
		{"view with places", "alter table events rename to real; create view events as select ctid, *, attack.trace() from real", refuses, "is a view"},
		{"foreign table", "drop table events; create foreign table events (id text, app_name text, user_id text, session_id text, invocation_id text, author text, actions bytea, branch text, \"timestamp\" timestamptz, content jsonb) server nowhere", refuses, "is a foreign table"},
		{"collation", "create collation attack.c (provider = icu, locale = 'und'); alter table events alter branch type text collate attack.c", reads, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := load(t, "adk-go-2.2.0")
			t.Chdir(t.TempDir())
			attacker(t, url)
			execute(t, url, "alter table sessions owner to attacker; alter table events owner to attacker", "create foreign data wrapper nothing", "create server nowhere foreign data wrapper nothing", "grant usage on foreign server nowhere to attacker")
			execute(t, asRole(url, "attacker"), `create function attack.fire() returns trigger language plpgsql as $$ begin perform attack.trace(); return null; end $$`,
				`create function attack.two(text, text) returns text language plpgsql immutable as $$ begin perform attack.trace(); return 'a'; end $$`,
				`create function attack.unlike(text) returns text language plpgsql immutable as $$ begin perform attack.trace(); return gen_random_uuid(); end $$`, tt.part)
			before := traces(t)
			for _, words := range [][]string{{"check", url}, {"check", url, "--session", "tool"}, {"ls", url}, {"view", url, "tool"}, {"why", url, "tool"}, {"export", url}, {"repair", url, "--dry-run"}, {"repair", url, "--yes", "--assume-dead"}} {
				out, errors, code := sessctl(t, words...)
				if n := traces(t) - before; n > 0 {
					t.Fatalf("sessctl %v ran foreign code %d times (exit code %d)\n%.500s%s", words, n, code, out, errors)
				}
				is := words[0] == "check" && len(words) == 2
				if is && code != tt.check || (is && tt.check == refuses || words[len(words)-1] == "--dry-run") && !strings.Contains(flat(out+errors), tt.told) {
					t.Errorf("sessctl %v: exit code %d, no %q\n%.2000s%s", words, code, tt.told, out, errors)
				}
			}
		})
	}
}

// TestForeignTriggersAreAllowed: with the word, a repair and its undo fire a trigger of another
// role, with the search path that the runtime has.
func TestForeignTriggersAreAllowed(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	attacker(t, url)
	execute(t, url, "alter table events owner to attacker")
	execute(t, asRole(url, "attacker"), `create function attack.fire() returns trigger language plpgsql as $$ begin perform id from sessions limit 1; perform attack.trace(); return coalesce(new, old); end $$`,
		"create trigger late after insert or update or delete on events for each row execute function attack.fire()")
	was := rowsOf(t, url)
	for _, words := range [][]string{{"repair", url, "--yes", "--assume-dead", "--fail-on", "never"}, {"undo", url, "--yes"}} {
		before := traces(t)
		if out, errors, code := sessctl(t, words...); code != 3 || traces(t) != before || !strings.Contains(flat(errors), "--allow foreign-functions") {
			t.Fatalf("sessctl %v: exit code %d\n%s%s", words, code, out, errors)
		}
		words = append(words, "--allow", "foreign-functions")
		if words[0] == "repair" { // in two steps
			out, errors, _ := sessctl(t, "repair", url, "--plan-out", "plan.json", "--allow", "foreign-functions")
			if traces(t) != before || !strings.Contains(flat(out), "--plan plan.json --allow foreign-functions") {
				t.Fatalf("a plan that is saved:\n%s%s", out, errors)
			}
			words = []string{"repair", "--plan", "plan.json", "--yes", "--fail-on", "never", "--allow", "foreign-functions"}
		}
		out, errors, code := sessctl(t, words...)
		if code != 0 || traces(t) == before || words[0] == "repair" && !strings.Contains(flat(out), "--allow foreign-functions") {
			t.Fatalf("sessctl %v: exit code %d\n%s%s", words, code, out, errors)
		}
	}
	if rowsOf(t, url) != was {
		t.Error("an undo leaves other rows")
	}
	execute(t, asRole(url, "attacker"), "drop trigger late on events")
	execute(t, url, `create function fire() returns trigger language plpgsql as $$ begin perform 1::oid || 'x'; return null; end $$`, "create trigger own after insert on events for each row execute function fire()")
	if out, errors, code := sessctl(t, "repair", url, "--yes", "--assume-dead", "--fail-on", "never"); code != 0 {
		t.Errorf("a trigger of the superuser: exit code %d\n%s%s", code, out, errors)
	}
	execute(t, asRole(url, "attacker"), everything)
	before := traces(t)
	if out, errors, code := sessctl(t, "undo", url, "--yes"); code != 3 || traces(t) != before || !strings.Contains(flat(errors), "could call") {
		t.Errorf("a trigger of the superuser that finds operators of another role: exit code %d\n%s%s", code, out, errors)
	}
}

// TestInheritingTables: rows that a runtime reads and sessctl does not are told.
func TestInheritingTables(t *testing.T) {
	for name, table := range map[string]string{"adk-go-2.2.0": "events", "adk-python-v1": "app_states", "kagent-0.10.0-rc3": "event", "spring-ai-session-0.8": "ai_session_event"} {
		url, _ := load(t, name)
		execute(t, url, "create schema elsewhere", "create table elsewhere.later () inherits ("+table+")",
			"with m as (delete from only "+table+" where ctid in (select ctid from only "+table+" limit 2) returning *) insert into elsewhere.later select * from m")
		before := rowsOf(t, url)
		for _, words := range [][]string{{"check", url}, {"repair", url, "--yes", "--assume-dead"}} {
			out, errors, code := sessctl(t, words...)
			if code != 3 || !strings.Contains(flat(out+errors), "the runtime also reads the rows of elsewhere.later, which inherits from the table "+table) || rowsOf(t, url) != before {
				t.Errorf("%s: %v: exit code %d\n%s%s", name, words, code, out, errors)
			}
		}
	}
}

// TestTriggerAfterTheLook: a trigger that comes between the look at a table and its first
// change is seen, too.
func TestTriggerAfterTheLook(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	attacker(t, url)
	execute(t, url, "alter table events owner to attacker")
	execute(t, asRole(url, "attacker"), `create function attack.fire() returns trigger language plpgsql as $$ begin perform attack.trace(); return coalesce(new, old); end $$`)
	was, before, late := rowsOf(t, url), traces(t), sync.Once{}
	p := &proxy{before: func(_ int, request string) bool {
		if strings.HasPrefix(request, "begin isolation level read committed") {
			late.Do(func() {
				execute(t, asRole(url, "attacker"), "create trigger late after insert or update or delete on events for each row execute function attack.fire()")
			})
		}
		return true
	}}
	out, errors, code := sessctl(t, "repair", p.through(t, url), "--yes", "--assume-dead", "--fail-on", "never")
	if code != 3 || traces(t) != before || !strings.Contains(flat(errors), "--allow foreign-functions") || rowsOf(t, url) != was {
		t.Errorf("exit code %d, %d traces\n%s%s", code, traces(t)-before, out, errors)
	}
}

// TestCascadesRunNothing: a table of another role that leads to the runtime's with a cascade has
// triggers, which would run as the superuser where they are deferred to the commit.
func TestCascadesRunNothing(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	attacker(t, url)
	execute(t, url, "grant references on events to attacker")
	execute(t, asRole(url, "attacker"), "create table attack.child (a text, b text, c text, d text, foreign key (a, b, c, d) references events (id, app_name, user_id, session_id) on delete cascade)",
		`create function attack.fire() returns trigger language plpgsql as $$ begin perform attack.trace(); return coalesce(new, old); end $$`,
		"create constraint trigger late after delete on attack.child deferrable initially deferred for each row execute function attack.fire()")
	execute(t, url, "insert into attack.child select id, app_name, user_id, session_id from events")
	was, before := rowsOf(t, url), traces(t)
	name, _, err := postgres.RegisterName(url)
	if err != nil {
		t.Fatal(err)
	}
	edit, err := postgres.Opener(name)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = edit.Close() }()
	if err := edit.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := table.Place(-1)
	if _, err := edit.Reader().Scan(t.Context(), table.Selection{Table: "events", Columns: []string{"id"}}, func(place table.Place, _ []table.Value) error { at = place; return table.Enough }); err != nil || at < 0 {
		t.Fatal(err)
	}
	if err := edit.Delete(t.Context(), "events", at); err != nil {
		t.Fatal(err)
	}
	if err := edit.Commit(t.Context()); err == nil || rowsOf(t, url) != was || traces(t) != before {
		t.Errorf("%v, %d traces", err, traces(t)-before)
	}
}
