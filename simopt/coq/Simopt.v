(** What every exported file needs: how its statements read, and the tactics that prove them.

    Nothing here is assumed: the file has no axiom of its own. It needs Coq 8.16 with its libraries, and coq-interval. *)

From Coq Require Export QArith Qabs Qminmax Qreals ZArith Reals.
From Coq Require Import Qpower Lra Nsatz Bool.
From Interval Require Import Float.Specific_bigint Float.Specific_ops Interval.Float_full Interval.Interval Real.Xreal Float.Basic.
From Coq Require Export List.
Export ListNotations.

(** In formulas over R a rational number is itself. *)
Coercion Q2R : Q >-> R.

(** * Finite tables *)

(** P holds of each entry of a list. *)
Fixpoint every {A} (l : list A) (P : A -> Prop) : Prop :=
  match l with [] => True | a :: m => P a /\ every m P end.

Notation "'for' 'every' x 'in' l , P" := (every l (fun x => P)) (at level 200, x pattern, l at level 99, P at level 200).

Lemma every_is_forall {A} (l : list A) P : every l P <-> forall a, In a l -> P a.
Proof. induction l as [|b l IH]; simpl; [tauto | rewrite IH]. split; [intros [H K] a [-> | I]; auto | auto]. Qed.

(** The integers a, a + 1, ..., b, as rationals. *)
Definition range (a b : Z) : list Q := map (fun k => inject_Z (a + Z.of_nat k)) (seq 0 (Z.to_nat (b - a + 1))).

(** * Rational statements

    The four operations of Q, each result in lowest terms: [Qred_correct : Qred q == q], so that these are the operations themselves, and
    numbers stay short while the kernel computes. *)
Definition plus (a b : Q) := Qred (a + b).
Definition minus (a b : Q) := Qred (a - b).
Definition times (a b : Q) := Qred (a * b).
Definition over (a b : Q) := Qred (a / b).
Definition power (a : Q) (n : Z) := Qred (a ^ n).

Theorem exact_operations a b n :
  (plus a b == a + b /\ minus a b == a - b /\ times a b == a * b /\ over a b == a / b /\ power a n == a ^ n)%Q.
Proof. repeat split; apply Qred_correct. Qed.

Module Exact.
  Notation "a + b" := (plus a b) : Q_scope.
  Notation "a - b" := (minus a b) : Q_scope.
  Notation "a * b" := (times a b) : Q_scope.
  Notation "a / b" := (over a b) : Q_scope.
  Notation "a ^ n" := (power a n%Z) : Q_scope.
  Notation "a != b" := (~ Qeq a b) (at level 70) : Q_scope.
End Exact.

(** What is finite and rational the kernel computes. *)
Ltac by_computation := vm_compute; repeat split; intros; first [reflexivity | discriminate | congruence].

(** * Identities between rational functions *)

Lemma factors a b : (a * b <> 0 -> a <> 0 /\ b <> 0)%R.
Proof. intros H; split; intros ->; apply H; ring. Qed.

Lemma numerator a b : (a / b <> 0 -> a <> 0)%R.
Proof. intros H ->; apply H; unfold Rdiv; ring. Qed.

Lemma base a n : (a ^ S n <> 0 -> a <> 0)%R.
Proof. intros H ->; apply H; simpl; ring. Qed.

Ltac split_factors := repeat match goal with
  | K : (_ * _ <> 0)%R |- _ => apply factors in K; destruct K
  | K : (_ / _ <> 0)%R |- _ => apply numerator in K
  | K : (_ ^ _ <> 0)%R |- _ => apply base in K
  end.

Ltac nonzero := solve [assumption | lra | let E := fresh in intro E; match goal with K : (?d <> 0)%R |- _ =>
  apply K; solve [lra | nsatz | field_simplify_eq; [lra || nsatz | repeat split; solve [assumption | lra]]] end].

Ltac by_identity := cbv zeta; intros; first [ring | field; repeat split; nonzero | split_factors; field; repeat split; nonzero].

(** * Roots, exponentials and logarithms: an evaluator that is proved sound

    A [term] is a formula with its value in R; [bounds] computes an enclosure of it: a rational number as long as there is one, from the
    first inexact root, exponential or logarithm on an interval with ends of so many binary digits, by the operations of coq-interval. *)
Module F := SpecificFloat BigIntRadix2.
Module I := FloatIntervalFull F.

Inductive term :=
  | Var (n : nat) | Num (p : Z) | Frac (p : Z) (q : positive)
  | Opp (a : term) | Abs (a : term) | Sqrt (a : term) | Root (k : positive) (a : term) | Exp (a : term) | Ln (a : term)
  | Pow (a : term) (n : nat)
  | Add (a b : term) | Sub (a b : term) | Mul (a b : term) | Div (a b : term) | Min (a b : term) | Max (a b : term).

Fixpoint value (known : list R) (t : term) : R :=
  match t with
  | Var n => nth n known 0%R
  | Num p => IZR p
  | Frac p q => IZR p / IZR (Zpos q)
  | Opp a => - value known a
  | Abs a => Rabs (value known a)
  | Sqrt a => sqrt (value known a)
  | Root k a => Rpower (value known a) (1 / IZR (Zpos k))
  | Exp a => exp (value known a)
  | Ln a => ln (value known a)
  | Pow a n => value known a ^ n
  | Add a b => value known a + value known b
  | Sub a b => value known a - value known b
  | Mul a b => value known a * value known b
  | Div a b => value known a / value known b
  | Min a b => Rmin (value known a) (value known b)
  | Max a b => Rmax (value known a) (value known b)
  end%R.

Inductive box := Exact (q : Q) | Wide (i : I.type).

Definition inside (x : R) (b : box) : Prop :=
  match b with Exact q => x = Q2R q | Wide i => contains (I.convert i) (Xreal x) end.

Section Enclosures.
Variable digits : F.precision.
#[local] Arguments I.add : simpl never.
#[local] Arguments I.sub : simpl never.
#[local] Arguments I.mul : simpl never.
#[local] Arguments I.div : simpl never.
#[local] Arguments I.abs : simpl never.
#[local] Arguments I.sqrt : simpl never.
#[local] Arguments I.exp : simpl never.
#[local] Arguments I.ln : simpl never.
#[local] Arguments I.power_int : simpl never.
#[local] Arguments I.join : simpl never.
#[local] Arguments I.fromZ : simpl never.
#[local] Arguments I.convert : simpl never.
#[local] Arguments I.sign_large : simpl never.
#[local] Arguments I.sign_strict : simpl never.
Definition wide (b : box) : I.type :=
  match b with Wide i => i | Exact q => I.div digits (I.fromZ digits (Qnum q)) (I.fromZ digits (Zpos (Qden q))) end.

Lemma defined i v x : contains i v -> (v = Xnan \/ v = Xreal x) -> contains i (Xreal x).
Proof. now intros H [-> | ->]; [destruct i |]. Qed.

Lemma inside_wide x b : inside x b -> contains (I.convert (wide b)) (Xreal x).
Proof.
  destruct b as [q|i]; [|easy]. intros ->. cbn [wide].
  apply (defined _ (Xdiv (Xreal (IZR (Qnum q))) (Xreal (IZR (Zpos (Qden q)))))).
  - apply I.div_correct; apply I.fromZ_correct.
  - simpl. unfold Xdiv'. case is_zero; [now left | now right].
Qed.

(** The largest c with c^k <= n for which this is found: nothing depends on its being right. *)
Fixpoint root_below (k : Z) (n : Z) (steps : nat) (low high : Z) : Z :=
  match steps with
  | O => low
  | S m => let c := ((low + high) / 2)%Z in if (c ^ k <=? n)%Z then root_below k n m c high else root_below k n m low c
  end.
Definition whole_root (k : positive) (n : Z) : Z :=
  let size := Z.log2_up (n + 1) in root_below (Zpos k) n (S (Z.to_nat size)) 0 (2 ^ (size / Zpos k + 1)).
Definition rational_root (k : positive) (q : Q) : option Q :=
  let c := (whole_root k (Qnum q) # Z.to_pos (whole_root k (Zpos (Qden q))))%Q in
  if (0 <? Qnum c)%Z && Qeq_bool (Qred (c ^ Zpos k)) q then Some c else None.

Definition on2 (f : Q -> Q -> Q) (g : I.type -> I.type -> I.type) (a b : box) : box :=
  match a, b with Exact p, Exact q => Exact (Qred (f p q)) | _, _ => Wide (g (wide a) (wide b)) end.
Definition difference a b := on2 Qminus (I.sub digits) a b.
Definition sign (b : box) : comparison + unit :=
  match b with
  | Exact q => inl (q ?= 0)%Q
  | Wide i => match I.sign_large i with Xgt => inl Gt | Xlt => inl Lt | Xeq => inl Eq | Xund => inr tt end
  end.
Definition smaller a b :=
  match sign (difference b a) with inl Lt => b | inl _ => a | inr _ => Wide (I.join (wide a) (wide b)) end.
Definition larger a b :=
  match sign (difference b a) with inl Lt => a | inl _ => b | inr _ => Wide (I.join (wide a) (wide b)) end.

Fixpoint bounds (known : list box) (t : term) : box :=
  match t with
  | Var n => nth n known (Wide I.nai)
  | Num p => Exact (inject_Z p)
  | Frac p q => Exact (p # q)
  | Opp a => difference (Exact 0) (bounds known a)
  | Abs a => match bounds known a with Exact q => Exact (Qabs q) | Wide i => Wide (I.abs i) end
  | Sqrt a =>
      match bounds known a with
      | Exact q => match rational_root 2 q with
                   | Some c => Exact c
                   | None => if Qle_bool 0 q then Wide (I.sqrt digits (wide (Exact q))) else Wide I.nai
                   end
      | Wide i => Wide (I.sqrt digits i)
      end
  | Root k a =>
      let x := bounds known a in
      let by_logarithm := Wide (I.exp digits (I.mul digits (wide (Exact (1 # k))) (I.ln digits (wide x)))) in
      match x with
      | Exact q => match rational_root k q with Some c => Exact c | None => by_logarithm end
      | Wide _ => by_logarithm
      end
  | Exp a => Wide (I.exp digits (wide (bounds known a)))
  | Ln a => match bounds known a with
            | Exact q => if Qeq_bool q 1 then Exact 0 else Wide (I.ln digits (wide (Exact q)))
            | Wide i => Wide (I.ln digits i)
            end
  | Pow a n => match bounds known a with
               | Exact q => Exact (Qred (q ^ Z.of_nat n))
               | Wide i => Wide (I.power_int digits i (Z.of_nat n))
               end
  | Add a b => on2 Qplus (I.add digits) (bounds known a) (bounds known b)
  | Sub a b => difference (bounds known a) (bounds known b)
  | Mul a b => on2 Qmult (I.mul digits) (bounds known a) (bounds known b)
  | Div a b =>
      match bounds known b with
      | Exact q => if Qeq_bool q 0 then Wide I.nai else on2 Qdiv (I.div digits) (bounds known a) (Exact q)
      | Wide i => Wide (I.div digits (wide (bounds known a)) i)
      end
  | Min a b => smaller (bounds known a) (bounds known b)
  | Max a b => larger (bounds known a) (bounds known b)
  end.

Lemma inside_nothing x : inside x (Wide I.nai).
Proof. change (contains (I.convert I.nai) (Xreal x)). now rewrite I.nai_correct. Qed.

Lemma inside_on2 (f : Q -> Q -> Q) g (h : R -> R -> R) x y a b :
  (forall p q, inside x (Exact p) -> inside y (Exact q) -> h x y = Q2R (f p q)) ->
  (forall i j, contains (I.convert i) (Xreal x) -> contains (I.convert j) (Xreal y) -> contains (I.convert (g i j)) (Xreal (h x y))) ->
  inside x a -> inside y b -> inside (h x y) (on2 f g a b).
Proof.
  intros Hf Hg Ha Hb.
  destruct a as [p|i], b as [q|j]; simpl; try (apply Hg; [apply (inside_wide _ _ Ha) | apply (inside_wide _ _ Hb)]).
  rewrite (Hf p q Ha Hb). apply Qeq_eqR. symmetry. apply Qred_correct.
Qed.

Lemma inside_difference x y a b : inside x a -> inside y b -> inside (x - y) (difference a b).
Proof.
  apply (inside_on2 Qminus (I.sub digits) Rminus).
  - intros p q -> ->. now rewrite Q2R_minus.
  - intros i j. exact (I.sub_correct digits i j (Xreal x) (Xreal y)).
Qed.

Lemma inside_sign x b : inside x b ->
  match sign b with inl Lt => (x <= 0)%R | inl Eq => (x = 0)%R | inl Gt => (0 <= x)%R | inr _ => True end.
Proof.
  destruct b as [q|i]; simpl.
  - intros ->. rewrite <- RMicromega.Q2R_0. generalize (Qcompare_spec q 0). destruct (q ?= 0)%Q; intros S; inversion_clear S.
    + now apply Qeq_eqR.
    + now apply Qle_Rle, Qlt_le_weak.
    + now apply Qle_Rle, Qlt_le_weak.
  - intros H. generalize (I.sign_large_correct i). destruct (I.sign_large i); intros K; trivial; specialize (K _ H);
      solve [apply K | now injection K].
Qed.

Lemma inside_smaller x y a b : inside x a -> inside y b -> inside (Rmin x y) (smaller a b).
Proof.
  intros Ha Hb. generalize (inside_sign _ _ (inside_difference _ _ _ _ Hb Ha)). unfold smaller.
  destruct (sign (difference b a)) as [[| |]|]; intros H.
  - rewrite Rmin_left by lra. exact Ha.
  - rewrite Rmin_right by lra. exact Hb.
  - rewrite Rmin_left by lra. exact Ha.
  - simpl. apply I.join_correct. unfold Rmin. destruct (Rle_dec x y); [left | right]; now apply inside_wide.
Qed.

Lemma inside_larger x y a b : inside x a -> inside y b -> inside (Rmax x y) (larger a b).
Proof.
  intros Ha Hb. generalize (inside_sign _ _ (inside_difference _ _ _ _ Hb Ha)). unfold larger.
  destruct (sign (difference b a)) as [[| |]|]; intros H.
  - rewrite Rmax_right by lra. exact Hb.
  - rewrite Rmax_left by lra. exact Ha.
  - rewrite Rmax_right by lra. exact Hb.
  - simpl. apply I.join_correct. unfold Rmax. destruct (Rle_dec x y); [right | left]; now apply inside_wide.
Qed.

Lemma Q2R_power q n : Q2R (q ^ Z.of_nat n) = (Q2R q ^ n)%R.
Proof.
  destruct n as [|n]; [apply RMicromega.Q2R_1|]. simpl Z.of_nat. rewrite <- (SuccNat2Pos.id_succ n).
  generalize (Pos.of_succ_nat n). simpl Qpower. clear n. intros p. induction p as [|p IH] using Pos.peano_ind.
  - simpl. ring.
  - rewrite <- Pos.add_1_l at 1. rewrite (Qeq_eqR _ _ (Qpower_plus_positive q 1 p)), Q2R_mult, IH, Pos2Nat.inj_succ. reflexivity.
Qed.

Lemma Q2R_abs q : Q2R (Qabs q) = Rabs (Q2R q).
Proof.
  apply Qabs_case; intros H; apply Qle_Rle in H; rewrite RMicromega.Q2R_0 in H.
  - rewrite Rabs_right; [reflexivity | lra].
  - rewrite Rabs_left1 by lra. apply Q2R_opp.
Qed.

Lemma rational_root_sound k q c : rational_root k q = Some c -> (0 < Q2R c /\ Q2R q = Q2R c ^ Pos.to_nat k)%R.
Proof.
  unfold rational_root. set (d := (_ # _)%Q). destruct (0 <? Qnum d)%Z eqn:P; [|easy]. destruct (Qeq_bool _ q) eqn:E; [|easy].
  intros H; injection H as <-. apply Z.ltb_lt in P. split.
  - rewrite <- RMicromega.Q2R_0. apply Qlt_Rlt. unfold Qlt. cbn [Qnum Qden]. Lia.lia.
  - apply Qeq_bool_eq in E. rewrite <- Q2R_power, positive_nat_Z. apply Qeq_eqR. rewrite <- E. apply Qred_correct.
Qed.

Lemma root_exact (k : positive) x c : (0 < c -> x = c ^ Pos.to_nat k -> Rpower x (1 / IZR (Zpos k)) = c)%R.
Proof.
  intros H ->. rewrite <- Rpower_pow, Rpower_mult by easy. rewrite INR_IZR_INZ, positive_nat_Z.
  replace (IZR (Zpos k) * (1 / IZR (Zpos k)))%R with 1%R; [now apply Rpower_1 | field; now apply (not_0_IZR (Zpos k))].
Qed.

Lemma inside_power x i n : contains (I.convert i) (Xreal x) -> contains (I.convert (I.power_int digits i (Z.of_nat n))) (Xreal (x ^ n)).
Proof.
  intros H. refine (defined _ _ _ (I.power_int_correct digits (Z.of_nat n) i (Xreal x) H) _). right.
  destruct n as [|n]; [reflexivity|]. simpl Z.of_nat. unfold Xpower_int, Xbind, Xpower_int'. now rewrite SuccNat2Pos.id_succ.
Qed.

Lemma inside_logarithm x i : contains (I.convert i) (Xreal x) -> contains (I.convert (I.ln digits i)) (Xreal (ln x)).
Proof.
  intros H. refine (defined _ _ _ (I.ln_correct digits i (Xreal x) H) _).
  simpl. unfold Xln'. case is_positive; [now right | now left].
Qed.

Lemma inside_quotient x y i j : contains (I.convert i) (Xreal x) -> contains (I.convert j) (Xreal y) ->
  contains (I.convert (I.div digits i j)) (Xreal (x / y)).
Proof.
  intros H K. refine (defined _ _ _ (I.div_correct digits i j (Xreal x) (Xreal y) H K) _).
  simpl. unfold Xdiv'. case is_zero; [now left | now right].
Qed.

Theorem bounds_sound known boxes : (forall n, inside (nth n known 0%R) (nth n boxes (Wide I.nai))) ->
  forall t, inside (value known t) (bounds boxes t).
Proof.
  intros H t. induction t; cbn [value bounds].
  - apply H.
  - simpl. unfold Q2R, inject_Z. simpl. field.
  - simpl. unfold Q2R. reflexivity.
  - replace (- value known t)%R with (0 - value known t)%R by ring.
    apply inside_difference; [|exact IHt]. simpl. symmetry. apply RMicromega.Q2R_0.
  - destruct (bounds boxes t) as [q|i]; simpl in *; [|exact (I.abs_correct i (Xreal _) IHt)].
    rewrite IHt. symmetry. apply Q2R_abs.
  - destruct (bounds boxes t) as [q|i]; [|exact (I.sqrt_correct digits i (Xreal _) IHt)].
    destruct (rational_root 2 q) as [c|] eqn:E.
    + apply rational_root_sound in E. destruct E as [P E]. simpl in IHt |- *. rewrite IHt, E. change (Pos.to_nat 2) with 2%nat.
      apply sqrt_pow2. lra.
    + destruct (Qle_bool 0 q); [|apply inside_nothing].
      exact (I.sqrt_correct digits _ (Xreal _) (inside_wide _ _ IHt)).
  - assert (B : inside (Rpower (value known t) (1 / IZR (Zpos k)))
        (Wide (I.exp digits (I.mul digits (wide (Exact (1 # k))) (I.ln digits (wide (bounds boxes t))))))).
    { refine (I.exp_correct digits _ (Xreal _) _).
      refine (I.mul_correct digits _ _ (Xreal _) (Xreal _) _ _); [apply inside_wide; reflexivity|].
      now apply inside_logarithm, inside_wide. }
    destruct (bounds boxes t) as [q|i]; [|exact B]. destruct (rational_root k q) as [c|] eqn:E; [|exact B].
    apply rational_root_sound in E. simpl in IHt |- *. rewrite IHt. now apply root_exact.
  - exact (I.exp_correct digits _ (Xreal _) (inside_wide _ _ IHt)).
  - destruct (bounds boxes t) as [q|i]; [|now apply inside_logarithm].
    destruct (Qeq_bool q 1) eqn:E; [|now apply inside_logarithm, inside_wide].
    apply Qeq_bool_eq, Qeq_eqR in E. simpl in IHt |- *. rewrite IHt, E, RMicromega.Q2R_1, RMicromega.Q2R_0. apply ln_1.
  - destruct (bounds boxes t) as [q|i]; [|now apply inside_power].
    simpl in *. rewrite IHt, <- Q2R_power. apply Qeq_eqR. symmetry. apply Qred_correct.
  - apply (inside_on2 Qplus (I.add digits) Rplus); try easy.
    + intros p q -> ->. now rewrite Q2R_plus.
    + intros i j. exact (I.add_correct digits i j (Xreal _) (Xreal _)).
  - now apply inside_difference.
  - apply (inside_on2 Qmult (I.mul digits) Rmult); try easy.
    + intros p q -> ->. now rewrite Q2R_mult.
    + intros i j. exact (I.mul_correct digits i j (Xreal _) (Xreal _)).
  - destruct (bounds boxes t2) as [q|j]; [|now apply inside_quotient; [apply inside_wide|]].
    destruct (Qeq_bool q 0) eqn:Z; [apply inside_nothing|].
    apply (inside_on2 Qdiv (I.div digits) Rdiv); try easy; [|intros i j; apply inside_quotient].
    intros p r -> K. simpl in IHt2, K. rewrite Q2R_div; [now rewrite K|]. intros N. apply Qeq_bool_neq in Z. apply Z, eqR_Qeq.
    rewrite <- IHt2, K. now apply Qeq_eqR.
  - now apply inside_smaller.
  - now apply inside_larger.
Qed.

(** A [fact] is a relation between terms, or several; [Bind] names a part that occurs more than once. *)
Inductive fact :=
  | Le (a b : term) | Lt (a b : term) | Eql (a b : term) | NotLe (a b : term) | NotLt (a b : term)
  | Both (f g : fact) | Bind (t : term) (f : fact).

Fixpoint holds (known : list R) (f : fact) : Prop :=
  match f with
  | Le a b => (value known a <= value known b)%R
  | Lt a b => (value known a < value known b)%R
  | Eql a b => value known a = value known b
  | NotLe a b => ~ (value known a <= value known b)%R
  | NotLt a b => ~ (value known a < value known b)%R
  | Both f g => holds known f /\ holds known g
  | Bind t f => let part := value known t in holds (part :: known) f
  end.

Definition below (a b : box) : bool :=
  match difference b a with
  | Exact q => match (q ?= 0)%Q with Gt => true | _ => false end
  | Wide i => match I.sign_strict i with Xgt => true | _ => false end
  end.
Definition at_most (a b : box) : bool :=
  match sign (difference b a) with inl Gt => true | inl Eq => true | _ => false end.

Fixpoint decide (known : list box) (f : fact) : bool :=
  match f with
  | Le a b => at_most (bounds known a) (bounds known b)
  | Lt a b => below (bounds known a) (bounds known b)
  | Eql a b => match sign (difference (bounds known b) (bounds known a)) with inl Eq => true | _ => false end
  | NotLe a b => below (bounds known b) (bounds known a)
  | NotLt a b => at_most (bounds known b) (bounds known a)
  | Both f g => decide known f && decide known g
  | Bind t f => decide (bounds known t :: known) f
  end.

Lemma at_most_sound x y a b : inside x a -> inside y b -> at_most a b = true -> (x <= y)%R.
Proof.
  intros Ha Hb. generalize (inside_sign _ _ (inside_difference _ _ _ _ Hb Ha)). unfold at_most.
  destruct (sign _) as [[| |]|]; intros; try easy; lra.
Qed.

Lemma below_sound x y a b : inside x a -> inside y b -> below a b = true -> (x < y)%R.
Proof.
  intros Ha Hb. generalize (inside_difference _ _ _ _ Hb Ha). unfold below. destruct (difference b a) as [q|i]; simpl.
  - intros E. generalize (Qcompare_spec q 0). destruct (q ?= 0)%Q; try easy. intros S _. inversion_clear S as [| |P].
    apply Qlt_Rlt in P. rewrite RMicromega.Q2R_0 in P. lra.
  - intros E. generalize (I.sign_strict_correct i). destruct (I.sign_strict i); try easy. intros S _. destruct (S _ E) as [_ P].
    simpl in P. lra.
Qed.

Theorem decide_sound f : forall known boxes, (forall n, inside (nth n known 0%R) (nth n boxes (Wide I.nai))) ->
  decide boxes f = true -> holds known f.
Proof.
  induction f as [a b|a b|a b|a b|a b|f IHf g IHg|t f IH]; intros known boxes H; cbn [decide holds].
  - apply at_most_sound; now apply bounds_sound.
  - apply below_sound; now apply bounds_sound.
  - generalize (inside_sign _ _ (inside_difference _ _ _ _ (bounds_sound _ _ H b) (bounds_sound _ _ H a))).
    destruct (sign _) as [[| |]|]; intros; try easy; lra.
  - intros D. apply Rlt_not_le. revert D. apply below_sound; now apply bounds_sound.
  - intros D. apply Rle_not_lt. revert D. apply at_most_sound; now apply bounds_sound.
  - intros D. apply andb_true_iff in D. destruct D. eauto.
  - intros D. apply (IH _ _) with (2 := D). intros [|n]; [apply bounds_sound, H | apply H].
Qed.

End Enclosures.

(** Few digits decide most facts; the next more are asked where they do not, and only there: [||] would compute both its sides. *)
Fixpoint decide_by (l : list positive) (known : list box) (f : fact) : bool :=
  match l with [] => false | n :: m => if decide (F.PtoP n) known f then true else decide_by m known f end.
Definition settled (known : list box) (f : fact) : bool := decide_by [64; 160; 320]%positive known f.

Lemma settled_sound f known boxes : (forall n, inside (nth n known 0%R) (nth n boxes (Wide I.nai))) ->
  settled boxes f = true -> holds known f.
Proof.
  intros H. unfold settled. generalize [64; 160; 320]%positive as l. intros l. induction l as [|n l IH]; cbn [decide_by]; [easy|].
  destruct (decide (F.PtoP n) boxes f) eqn:D; [intros _; exact (decide_sound _ f known boxes H D) | exact IH].
Qed.

Lemma every_decided {A} (P : A -> Prop) (f : fact) (known : A -> list Q) (l : list A) :
  (forall a, holds (map Q2R (known a)) f -> P a) -> forallb (fun a => settled (map Exact (known a)) f) l = true -> every l P.
Proof.
  intros H D. apply every_is_forall. intros a I. apply H. rewrite forallb_forall in D. apply (settled_sound f _ _) with (2 := D a I).
  generalize (known a). clear. intros l n. revert n. induction l as [|q l IH]; intros [|n]; cbn [nth map].
  - apply inside_nothing.
  - apply inside_nothing.
  - reflexivity.
  - apply IH.
Qed.

Lemma decided (P : Prop) (f : fact) : (holds [] f -> P) -> settled [] f = true -> P.
Proof. intros H D. apply H, (settled_sound f [] []); [intros [|n]; apply inside_nothing | exact D]. Qed.

(** The kernel computes the decision once, when the proof ends. *)
Ltac unfold_fact := cbv beta iota delta [holds value nth map].
Ltac by_the_kernel := vm_cast_no_check (@eq_refl bool true).
Ltac by_enclosure f := apply (decided _ f); [unfold_fact; intros H; exact H | by_the_kernel].
Ltac by_enclosures f known :=
  apply (every_decided _ f known); [intros a; repeat match goal with p : (_ * _)%type |- _ => destruct p end; unfold_fact; intros H; intros; exact H
                                   | by_the_kernel].
