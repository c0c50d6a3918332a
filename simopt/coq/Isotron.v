(** KK-T2-sharp: the powers of W that the proof of Theorem 2 gives for L-Isotron are the least possible at its numbers of iterations. *)

From Simopt Require Import Spaces.
Open Scope R_scope.

(** * Definitions *)

(** A sample is a list of points x on the line with labels y. *)
Definition sample := list (R * R).
Definition average (s : sample) (g : R -> R -> R) : R := mean (map (fun a => g (fst a) (snd a)) s).

(** LPAV: of the functions of w x that are nondecreasing and 1-Lipschitz on the sample one of least squared error. *)
Definition climbs (s : sample) (w : R) (u : R -> R) : Prop :=
  forall a b, In a s -> In b s -> w * fst a <= w * fst b -> 0 <= u (w * fst b) - u (w * fst a) <= w * fst b - w * fst a.
Definition lpav (s : sample) (w : R) (u : R -> R) : Prop :=
  climbs s w u /\ forall v, climbs s w v -> average s (fun x y => (y - u (w * x)) ^ 2) <= average s (fun x y => (y - v (w * x)) ^ 2).

(** The iterates h x = u t (w t * x) of L-Isotron, t = 0, 1, 2, ..., and how far they are from the labels' means. *)
Definition l_isotron (s : sample) (w : nat -> R) (u : nat -> R -> R) : Prop :=
  w 0%nat = 0 /\ forall t, lpav s (w t) (u t) /\ w (S t) = w t + average s (fun x y => (y - u t (w t * x)) * x).
Definition error (truth : R -> R) (s : sample) (h : R -> R) : R := average s (fun x _ => (h x - truth x) ^ 2).

(** A law that gives each of finitely many outcomes the same chance; the samples of m independent draws; and a property with a chance of p. *)
Fixpoint draws {A} (m : nat) (law : list A) : list (list A) :=
  match m with O => [[]] | S m => flat_map (fun a => map (cons a) (draws m law)) law end.
Definition likely {A} (m : nat) (law : list A) (p : R) (P : list A -> Prop) : Prop :=
  exists event : list A -> bool, (forall s, In s (draws m law) -> event s = true -> P s) /\
  p <= INR (length (filter event (draws m law))) / INR (length (draws m law)).

(** Two points, and labels without noise: y = u (W x) for u z = z + 1/2 between 0 and 1. *)
Definition ramp (z : R) : R := Rmax 0 (Rmin 1 (z + 1 / 2)).
Definition two (W : R) : list (R * R) := [(1 / (2 * W), 1); (- (1 / (2 * W)), 0)].

(** * The chance: no more than a quarter from a half, but for 2 e^(-m/8) (Hoeffding) *)

Definition side (a : R * R) : R := if Rlt_dec 0 (fst a) then 1 else -1.
Definition balance (s : sample) : R := sum (map side s).

Lemma two_draws_length {A} (a b : A) m : length (draws m [a; b]) = (2 ^ m)%nat.
Proof. induction m as [|m IH]; [reflexivity|]. cbn [draws flat_map]. rewrite !app_length, !map_length, IH. cbn. lia. Qed.

Lemma moment a b theta m : side a = 1 -> side b = -1 ->
  sum (map (fun s => exp (theta * balance s)) (draws m [a; b])) = (exp theta + exp (- theta)) ^ m.
Proof.
  intros A B. induction m as [|m IH]; [unfold balance; cbn; rewrite Rmult_0_r, exp_0; ring|].
  cbn [draws flat_map]. rewrite app_nil_r, map_app, sum_app, !map_map.
  assert (E : forall c l, sum (map (fun s => exp (theta * balance (c :: s))) l) = exp (theta * side c) * sum (map (fun s => exp (theta * balance s)) l)).
  { intros c l. rewrite <- sum_scale. apply sum_ext. intros s _. unfold balance. cbn [map]. rewrite sum_cons, <- exp_plus. f_equal. ring. }
  rewrite !E, IH, A, B. cbn [pow]. replace (theta * 1) with theta by ring. replace (theta * -1) with (- theta) by ring. ring.
Qed.

Lemma exp_above x : 1 + x <= exp x.
Proof. destruct (Req_dec x 0) as [->|N]; [rewrite exp_0; lra | left; now apply exp_ineq1]. Qed.

Lemma exp_of_parts x n : exp (INR n * x) = exp x ^ n.
Proof. induction n as [|n IH]; [simpl; now rewrite Rmult_0_l, exp_0|]. rewrite S_INR, Rmult_plus_distr_r, exp_plus, IH, Rmult_1_l. simpl. ring. Qed.

(** cosh (1/2) <= e^(1/8) *)
Lemma cosh_half : exp (1 / 2) + exp (- (1 / 2)) <= 2 * exp (1 / 8).
Proof.
  assert (A : (129 / 128) ^ 16 <= exp (1 / 8)).
  { replace (1 / 8) with (INR 16 * (1 / 128)) by (cbn [INR]; lra). rewrite exp_of_parts. apply pow_incr. generalize (exp_above (1 / 128)). lra. }
  assert (B : (31 / 32) ^ 16 <= exp (- (1 / 2))).
  { replace (- (1 / 2)) with (INR 16 * - (1 / 32)) by (cbn [INR]; lra). rewrite exp_of_parts. apply pow_incr. generalize (exp_above (- (1 / 32))). lra. }
  assert (C : exp (1 / 2) * exp (- (1 / 2)) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (D : 1 < exp (1 / 2)) by (generalize (exp_ineq1 (1 / 2) ltac:(lra)); lra).
  assert (E : exp (- (1 / 2)) < 1) by (generalize (exp_pos (- (1 / 2))); nra).
  set (y := exp (- (1 / 2))) in *. set (x := exp (1 / 2)) in *. set (z := exp (1 / 8)) in *. clearbody x y z.
  assert (L : 601 / 1000 <= y) by (apply Rle_trans with (2 := B); lra). assert (Z : 11325 / 10000 <= z) by (apply Rle_trans with (2 := A); lra).
  assert (y * (x + y) <= y * (2 * z)) by (assert (0 <= (y - 601 / 1000) * (1 - y)) by (apply Rmult_le_pos; lra); nra). nra.
Qed.

Lemma tail a b m theta (event : sample -> bool) : side a = 1 -> side b = -1 -> theta = 1 / 2 \/ theta = - (1 / 2) ->
  (forall s, event s = true -> INR m / 4 <= theta * balance s) ->
  INR (length (filter event (draws m [a; b]))) <= INR (length (draws m [a; b])) * exp (- (INR m / 8)).
Proof.
  intros A B T H.
  assert (M : INR (length (filter event (draws m [a; b]))) * exp (INR m / 4) <= (exp theta + exp (- theta)) ^ m).
  { rewrite <- (moment a b theta m A B), <- sum_chosen. apply sum_le. intros s _. destruct (event s) eqn:E; [|left; apply exp_pos].
    apply H in E. destruct (Rle_lt_or_eq_dec _ _ E) as [L|L]; [left; now apply exp_increasing | rewrite L; apply Rle_refl]. }
  assert (N : (exp theta + exp (- theta)) ^ m <= (2 * exp (1 / 8)) ^ m).
  { apply pow_incr. generalize (exp_pos theta) (exp_pos (- theta)) cosh_half. intros.
    destruct T as [->| ->]; rewrite ?Ropp_involutive in *; lra. }
  rewrite Rpow_mult_distr, <- exp_of_parts in N. rewrite two_draws_length, pow_INR. cbn [INR].
  apply (Rmult_le_reg_r (exp (INR m / 4))); [apply exp_pos|]. rewrite Rmult_assoc, <- exp_plus.
  replace (- (INR m / 8) + INR m / 4) with (INR m * (1 / 8)) by field. replace (1 + 1) with 2 by ring. lra.
Qed.

Lemma filter_apart {A} (e f g : A -> bool) l : (forall a, e a = true \/ f a = true \/ g a = true) ->
  (length l <= length (filter e l) + length (filter f l) + length (filter g l))%nat.
Proof.
  intros H. induction l as [|a l IH]; [easy|]. cbn [filter length]. destruct (H a) as [E|[E|E]]; rewrite E;
    [destruct (f a), (g a) | destruct (e a), (g a) | destruct (e a), (f a)]; cbn [length]; lia.
Qed.

Definition even_handed (m : nat) (s : sample) : bool := if Rle_dec (Rabs (balance s)) (INR m / 2) then true else false.

Lemma hoeffding W m : 0 < W ->
  1 - 2 * exp (- (INR m / 8)) <= INR (length (filter (even_handed m) (draws m (two W)))) / INR (length (draws m (two W))).
Proof.
  intros P. assert (V : 0 < 1 / (2 * W)) by (apply Rdiv_lt_0_compat; lra).
  assert (A : side (1 / (2 * W), 1) = 1) by (unfold side; cbn [fst]; destruct (Rlt_dec _ _); lra).
  assert (B : side (- (1 / (2 * W)), 0) = -1) by (unfold side; cbn [fst]; destruct (Rlt_dec _ _); lra).
  set (high := fun s => if Rle_dec (INR m / 2) (balance s) then true else false).
  set (low := fun s => if Rle_dec (balance s) (- (INR m / 2)) then true else false).
  generalize (tail _ _ m (1 / 2) high A B (or_introl eq_refl)) (tail _ _ m (- (1 / 2)) low A B (or_intror eq_refl)). fold (two W). intros H L.
  assert (H' := H ltac:(intros s; unfold high; destruct (Rle_dec _ _); [lra | easy])). clear H.
  assert (L' := L ltac:(intros s; unfold low; destruct (Rle_dec _ _); [lra | easy])). clear L.
  assert (C : (length (draws m (two W)) <= length (filter (even_handed m) (draws m (two W))) + length (filter high (draws m (two W))) + length (filter
    low (draws m (two W))))%nat).
  { apply filter_apart. intros s. unfold even_handed, high, low. destruct (Rle_dec (Rabs (balance s)) (INR m / 2)) as [|N]; [now left|]. right.
    destruct (Rle_dec (INR m / 2) (balance s)); [now left|]. right. destruct (Rle_dec (balance s) _); [easy|]. exfalso. apply N.
    apply Rabs_le. lra. }
  apply le_INR in C. rewrite !plus_INR in C. assert (D : 0 < INR (length (draws m (two W)))).
  { unfold two. rewrite two_draws_length. apply lt_0_INR. generalize (Nat.pow_nonzero 2 m). lia. }
  apply (Rmult_le_reg_r (INR (length (draws m (two W))))); [easy|]. unfold Rdiv at 2. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. lra.
Qed.

(** * The run: 1 - w_t / W shrinks by 1 - q (1 - q) / W^2 in each step, where q is the share of the positive point *)

Lemma in_draws {A} (law : list A) m s : In s (draws m law) -> length s = m /\ incl s law.
Proof.
  revert s. induction m as [|m IH]; intros s H; [destruct H as [<-|[]]; now split|]. cbn [draws] in H. apply in_flat_map in H.
  destruct H as [a [I H]]. apply in_map_iff in H. destruct H as [r [<- R]]. apply IH in R. destruct R as [<- R].
  split; [easy|]. intros b [<-|B]; auto.
Qed.

Section Run.
Context (W : R) (W_large : 1 <= W) (m : nat) (s : sample) (drawn : In s (draws m (two W))) (even : Rabs (balance s) <= INR m / 2) (m_positive : (1 <= m)%nat).
Let q : R := (1 + balance s / INR m) / 2.
Let x : R := 1 / (2 * W).

Let m_large : 1 <= INR m.
Proof. replace 1 with (INR 1) by reflexivity. now apply le_INR. Qed.
Let x_positive : 0 < x.
Proof. apply Rdiv_lt_0_compat; lra. Qed.

Lemma sides : side (x, 1) = 1 /\ side (- x, 0) = -1.
Proof. unfold side. cbn [fst]. split; destruct (Rlt_dec _ _); lra. Qed.

Lemma share_between : 1 / 4 <= q <= 3 / 4.
Proof.
  assert (B : - (1 / 2) <= balance s / INR m <= 1 / 2); [|unfold q; lra].
  generalize (Rle_abs (balance s)) (Rle_abs (- balance s)). rewrite Rabs_Ropp. intros.
  split; apply (Rmult_le_reg_r (INR m)); try lra; unfold Rdiv at 2; rewrite ?Rmult_assoc, ?Rinv_l by lra; [|unfold Rdiv at 1;
    rewrite Rmult_assoc, Rinv_l by lra]; lra.
Qed.

Lemma average_two g : average s g = q * g x 1 + (1 - q) * g (- x) 0.
Proof.
  destruct (in_draws _ _ _ drawn) as [L I]. unfold average, mean. rewrite map_length, L.
  assert (E : sum (map (fun a => g (fst a) (snd a)) s) = (INR (length s) + balance s) / 2 * g x 1 + (INR (length s) - balance s) / 2 * g (- x) 0).
  { clear -I W_large x_positive. induction s as [|a l IH]; [unfold balance; cbn; lra|]. cbn [map length].
    rewrite sum_cons, S_INR, IH by (intros b B; apply I; now right).
    replace (balance (a :: l)) with (side a + balance l) by reflexivity.
    destruct sides as [P N].
    destruct (I a (or_introl eq_refl)) as [<-|[<-|[]]]; fold x; rewrite ?P, ?N; cbn [fst snd]; field. }
  rewrite E, L. unfold q. field. lra.
Qed.

Lemma both_occur : In (x, 1) s /\ In (- x, 0) s.
Proof.
  destruct (in_draws _ _ _ drawn) as [L I]. generalize share_between. intros Q.
  assert (A : forall a, side a = 1 \/ side a = -1) by (intros a; unfold side; destruct (Rlt_dec _ _); auto).
  assert (P : exists a, In a s /\ side a = 1).
  { destruct (Exists_dec (fun a => side a = 1) s (fun a => Req_EM_T _ _)) as [H|H]; [now apply Exists_exists in H|]. exfalso.
    assert (B : balance s = - INR m); [|unfold q in Q; rewrite B in Q; unfold Rdiv in Q; rewrite Ropp_mult_distr_l_reverse, Rinv_r in Q; lra].
    unfold balance. rewrite <- L. transitivity (INR (length s) * -1); [|ring]. rewrite <- sum_constant. apply sum_ext. intros a J.
    destruct (A a) as [T|T]; [|easy]. exfalso. apply H, Exists_exists. now exists a. }
  assert (N : exists a, In a s /\ side a = -1).
  { destruct (Exists_dec (fun a => side a = -1) s (fun a => Req_EM_T _ _)) as [H|H]; [now apply Exists_exists in H|]. exfalso.
    assert (B : balance s = INR m); [|unfold q in Q; rewrite B in Q; unfold Rdiv in Q; rewrite Rinv_r in Q; lra].
    unfold balance. rewrite <- L. transitivity (INR (length s) * 1); [|ring]. rewrite <- sum_constant. apply sum_ext. intros a J.
    destruct (A a) as [T|T]; [easy|]. exfalso. apply H, Exists_exists. now exists a. }
  destruct P as [a [J T]], N as [b [K V]].
  split.
  - destruct (I a J) as [<-|[<-|[]]]; [exact J|]. fold x in T. rewrite (proj2 sides) in T. lra.
  - destruct (I b K) as [<-|[<-|[]]]; [|exact K]. fold x in V. rewrite (proj1 sides) in V. lra.
Qed.

(** The fit for the weight w = g W, and that there is no other. *)
Let high (g : R) : R := q + (1 - q) * g.
Let low (g : R) : R := q - q * g.

Lemma x_times g : g * W * x = g / 2 /\ g * W * - x = - (g / 2).
Proof. unfold x. split; field; lra. Qed.

Lemma climbs_two g u : 0 <= g -> climbs s (g * W) u <-> 0 <= u (g / 2) - u (- (g / 2)) <= g.
Proof.
  intros G. destruct (x_times g) as [X Y]. destruct both_occur as [P N]. split.
  - intros C. specialize (C _ _ N P). cbn [fst] in C. rewrite X, Y in C. specialize (C ltac:(lra)). lra.
  - intros C a b A B. destruct (in_draws _ _ _ drawn) as [_ I].
    destruct (I a A) as [<-|[<-|[]]]; destruct (I b B) as [<-|[<-|[]]]; cbn [fst]; fold x; rewrite ?X, ?Y; intros; try lra.
Qed.

Lemma cost_two g u : average s (fun x y => (y - u (g * W * x)) ^ 2) = q * (1 - u (g / 2)) ^ 2 + (1 - q) * u (- (g / 2)) ^ 2.
Proof. rewrite average_two. destruct (x_times g) as [-> ->]. ring. Qed.

Lemma cost_split g a b : q * (1 - a) ^ 2 + (1 - q) * b ^ 2 = q * (1 - high g) ^ 2 + (1 - q) * low g ^ 2 +
  (q * (a - high g) ^ 2 + (1 - q) * (b - low g) ^ 2 + 2 * (q * (1 - q) * ((1 - g) * (g - (a - b))))).
Proof. unfold high, low. ring. Qed.

Lemma steep g : 0 <= g <= 1 -> forall u, u (g / 2) = high g -> u (- (g / 2)) = low g -> lpav s (g * W) u.
Proof.
  intros G u H L. generalize share_between. intros Q. split.
  - apply climbs_two; [easy|]. rewrite H, L. unfold high, low. lra.
  - intros v V. rewrite !cost_two, H, L. apply climbs_two in V; [|easy].
    rewrite (cost_split g (v (g / 2)) (v (- (g / 2)))). generalize (pow2_ge_0 (v (g / 2) - high g)) (pow2_ge_0 (v (- (g / 2)) - low g)). intros.
    assert (0 <= q * (v (g / 2) - high g) ^ 2) by (apply Rmult_le_pos; lra). assert (0 <= (1 - q) * (v (- (g / 2)) - low g) ^ 2) by (apply Rmult_le_pos; lra).
    assert (0 <= q * (1 - q) * ((1 - g) * (g - (v (g / 2) - v (- (g / 2)))))) by (apply Rmult_le_pos; apply Rmult_le_pos; lra). lra.
Qed.

Definition fit (g z : R) : R := q + g / 2 - q * g + z.

Lemma fit_is_steep g : fit g (g / 2) = high g /\ fit g (- (g / 2)) = low g.
Proof. unfold fit, high, low. split; field. Qed.

Lemma only_fit g u : 0 <= g <= 1 -> lpav s (g * W) u -> u (g / 2) = high g /\ u (- (g / 2)) = low g.
Proof.
  intros G [C O]. generalize share_between. intros Q. destruct (fit_is_steep g) as [H L]. destruct (steep g G _ H L) as [F _].
  specialize (O _ F). rewrite !cost_two, H, L, (cost_split g (u (g / 2)) (u (- (g / 2)))) in O. apply climbs_two in C; [|easy].
  generalize (pow2_ge_0 (u (g / 2) - high g)) (pow2_ge_0 (u (- (g / 2)) - low g)). intros.
  assert (0 <= q * (1 - q) * ((1 - g) * (g - (u (g / 2) - u (- (g / 2)))))) by (apply Rmult_le_pos; apply Rmult_le_pos; lra).
  assert (0 <= q * (u (g / 2) - high g) ^ 2) by (apply Rmult_le_pos; lra). assert (0 <= (1 - q) * (u (- (g / 2)) - low g) ^ 2) by (apply Rmult_le_pos; lra).
  split; apply Rminus_diag_uniq, Rsqr_0_uniq; unfold Rsqr; nra.
Qed.

Lemma step g u : u (g / 2) = high g -> u (- (g / 2)) = low g ->
  g * W + average s (fun x y => (y - u (g * W * x)) * x) = (1 - (1 - g) * (1 - q * (1 - q) / W ^ 2)) * W.
Proof. intros H L. rewrite average_two. destruct (x_times g) as [-> ->]. rewrite H, L. unfold high, low, x. field. lra. Qed.

Lemma spread_between : 3 / 16 <= q * (1 - q) <= 1 / 4.
Proof.
  generalize share_between (pow2_ge_0 (q - 1 / 2)). intros Q S. assert (0 <= (q - 1 / 4) * (3 / 4 - q)) by (apply Rmult_le_pos; lra). lra.
Qed.

Let rate : R := 1 - q * (1 - q) / W ^ 2.
Let rate_between : 3 / 4 <= rate <= 1.
Proof.
  generalize spread_between. intros A. assert (B : 1 <= W ^ 2) by nra.
  assert (C : 0 <= q * (1 - q) / W ^ 2 <= 1 / 4); [|unfold rate; lra].
  split; [unfold Rdiv; apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]|].
  apply (Rmult_le_reg_r (W ^ 2)); [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma power_between t : 0 <= 1 - rate ^ t <= 1.
Proof.
  generalize (pow_le rate t ltac:(lra)) (pow_incr rate 1 t ltac:(lra)). rewrite pow1. lra.
Qed.

Lemma run_exists : exists w u, l_isotron s w u.
Proof.
  exists (fun t => (1 - rate ^ t) * W), (fun t => fit (1 - rate ^ t)). split; [simpl; ring|]. intros t.
    destruct (fit_is_steep (1 - rate ^ t)) as [H L]. split.
  - apply steep; auto using power_between.
  - rewrite step by easy. fold rate. simpl. ring.
Qed.

Lemma run_is w u : l_isotron s w u -> forall t, w t = (1 - rate ^ t) * W.
Proof.
  intros [Z S] t. induction t as [|t IH]; [rewrite Z; simpl; ring|]. destruct (S t) as [F ->]. rewrite IH in *.
  destruct (only_fit _ _ (power_between t) F) as [H L]. rewrite step by easy. fold rate. simpl. ring.
Qed.

Lemma error_is w u t : l_isotron s w u -> error (fun x => ramp (W * x)) s (fun x => u t (w t * x)) = q * (1 - q) * (rate ^ t) ^ 2.
Proof.
  intros I. unfold error. rewrite (run_is w u I t). destruct I as [Z S]. destruct (S t) as [F _]. rewrite (run_is w u (conj Z S) t) in F.
  destruct (only_fit _ _ (power_between t) F) as [H L]. rewrite average_two. destruct (x_times (1 - rate ^ t)) as [-> ->]. rewrite H, L.
  assert (P : W * x = 1 / 2) by (unfold x; field; lra). replace (W * - x) with (- (1 / 2)) by (rewrite <- P; ring). rewrite P. unfold ramp.
  rewrite Rmin_left, Rmax_right, Rmin_right, Rmax_left by (rewrite ?Rmin_left; lra). unfold high, low. ring.
Qed.

Lemma bernoulli a n : 0 <= a <= 1 -> 1 - INR n * a <= (1 - a) ^ n.
Proof.
  intros A. induction n as [|n IH]; [simpl; lra|]. rewrite S_INR. cbn [pow]. generalize (pow_le (1 - a) n ltac:(lra)) (pos_INR n). intros.
  assert ((1 - a) * (1 - INR n * a) <= (1 - a) * (1 - a) ^ n) by (apply Rmult_le_compat_l; lra).
  assert (0 <= INR n * a * a) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra). lra.
Qed.

(** The error after t steps. *)
Lemma error_stays w u t : l_isotron s w u -> 3 / 16 * (1 - INR t / (2 * W ^ 2)) <= error (fun x => ramp (W * x)) s (fun x => u t (w t * x)).
Proof.
  intros I. rewrite (error_is w u t I), <- pow_mult. generalize spread_between. intros A.
  assert (B : 1 <= W ^ 2) by nra.
  assert (P : 0 < / W ^ 2 <= 1) by (split; [apply Rinv_0_lt_compat; lra | rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
  generalize (bernoulli (q * (1 - q) / W ^ 2) (t * 2) ltac:(unfold Rdiv; nra)). fold rate. rewrite mult_INR. cbn [INR]. intros C.
  replace (INR t / (2 * W ^ 2)) with (INR t * (1 / 2 * / W ^ 2)) by (field; lra). unfold Rdiv in C.
  generalize (pos_INR t) (pow_le rate (t * 2) ltac:(lra)). intros T N.
  assert (D : INR t * (q * (1 - q) * / W ^ 2) <= INR t * (1 / 4 * / W ^ 2)) by (apply Rmult_le_compat_l; [easy | apply Rmult_le_compat_r; lra]).
  assert (G : 1 - INR t * (1 / 2 * / W ^ 2) <= rate ^ (t * 2)) by lra. nra.
Qed.
End Run.

(** * The powers *)

(** W = n^(rk) and M between half of n^(r((2r-a)k-1)) and all of it, n >= 12 C: iterations and error of the two parts, (r, a) = (3, 1) and (4, 2). *)
Section Powers.
Context (r a k : nat) (r_positive : (1 <= r)%nat) (a_small : (a + 2 <= 2 * r)%nat) (k_positive : (1 <= k)%nat).
Context (C n M : R) (C_large : 1 <= C) (n_large : 12 * C <= n).
Let W : R := n ^ (r * k).
Let full : R := n ^ (r * ((2 * r - a) * k - 1)).
Context (M_large : full / 2 <= M) (M_small : M <= full).

Let n_positive : 0 < n. Proof. lra. Qed.
Let enough : (2 <= (2 * r - a) * k)%nat. Proof. nia. Qed.
Let full_positive : 0 < full. Proof. now apply pow_lt. Qed.

Lemma iterations : C * Rpower (W ^ a * M) (1 / INR r) <= W ^ 2 / 12.
Proof.
  assert (A : 0 < W ^ a) by (apply pow_lt, pow_lt; easy).
  assert (B : Rpower (W ^ a * M) (1 / INR r) <= n ^ (2 * r * k - 1)).
  { apply root_at_most; try easy; [apply Rmult_lt_0_compat; lra | now apply pow_lt|].
    apply Rle_trans with (W ^ a * full); [apply Rmult_le_compat_l; lra|]. apply Req_le. unfold W, full. rewrite <- !pow_mult, <- pow_add. f_equal. nia. }
  replace (W ^ 2) with (n * n ^ (2 * r * k - 1)).
  - assert (P : 0 < n ^ (2 * r * k - 1)) by now apply pow_lt.
    apply Rle_trans with (C * n ^ (2 * r * k - 1)); [apply Rmult_le_compat_l; lra|].
      assert (0 <= (n - 12 * C) * n ^ (2 * r * k - 1)) by (apply Rmult_le_pos; lra). lra.
  - unfold W. rewrite <- pow_mult, tech_pow_Rmult. f_equal. nia.
Qed.

Lemma printed_error : C * Rpower (Rpower W (2 * INR r - INR a - 2 / INR k) / M) (1 / INR r) <= 1 / 6.
Proof.
  assert (K : 0 < INR k) by (apply lt_0_INR; lia).
  assert (E : Rpower W (2 * INR r - INR a - 2 / INR k) = n ^ (r * ((2 * r - a) * k - 2))).
  { unfold W. rewrite <- !Rpower_pow, Rpower_mult by easy. f_equal. rewrite !mult_INR, !minus_INR, !mult_INR, minus_INR, mult_INR by nia. cbn [INR].
    field. lra. }
  assert (B : Rpower (Rpower W (2 * INR r - INR a - 2 / INR k) / M) (1 / INR r) <= 2 / n).
  { rewrite E. assert (P : 0 < n ^ (r * ((2 * r - a) * k - 2))) by now apply pow_lt.
    apply root_at_most; try easy; [apply Rdiv_lt_0_compat; lra | apply Rdiv_lt_0_compat; lra|].
    apply (Rmult_le_reg_r M); [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with ((2 / n) ^ r * (full / 2)).
    - assert (F : full = n ^ r * n ^ (r * ((2 * r - a) * k - 2))).
      { unfold full. rewrite <- pow_add. f_equal. nia. }
      rewrite F. unfold Rdiv. rewrite Rpow_mult_distr, pow_inv. assert (N : 0 < n ^ r) by now apply pow_lt.
      replace (2 ^ r * / n ^ r * (n ^ r * n ^ (r * ((2 * r - a) * k - 2)) * / 2)) with (2 ^ r * / 2 * n ^ (r * ((2 * r - a) * k - 2))) by (field; lra).
      assert (2 <= 2 ^ r) by (rewrite <- (pow_1 2) at 1; apply Rle_pow; [lra | easy]).
      assert (0 <= (2 ^ r - 2) * n ^ (r * ((2 * r - a) * k - 2))) by (apply Rmult_le_pos; lra). lra.
    - apply Rmult_le_compat_l; [|easy]. apply pow_le. left. apply Rdiv_lt_0_compat; lra. }
  apply Rle_trans with (C * (2 / n)); [apply Rmult_le_compat_l; lra|]. apply (Rmult_le_reg_r n); [easy|].
  replace (C * (2 / n) * n) with (2 * C) by (field; lra). lra.
Qed.
End Powers.

(** m / log (c m) takes a value between half of X and X, at a size as large as one likes. *)
Definition scaled (c : R) (m : nat) : R := INR m / ln (c * INR m).

Lemma ln_3 : 1 <= ln 3.
Proof. rewrite <- (ln_exp 1). destruct exp_le_3 as [H|H]; [left; apply ln_increasing; [apply exp_pos | easy] | rewrite H; apply Rle_refl]. Qed.

Lemma ln_at_most a b : 0 < a -> a <= b -> ln a <= ln b.
Proof. intros A [H| ->]; [left; now apply ln_increasing | apply Rle_refl]. Qed.

Lemma ln_large c m : 1 <= c -> (3 <= m)%nat -> 1 <= ln (c * INR m).
Proof.
  intros H L. apply le_INR in L. cbn [INR] in L. apply Rle_trans with (1 := ln_3). apply ln_at_most; nra.
Qed.

Lemma scaled_beyond c X : 1 <= c -> 0 < X -> exists m, (3 <= m)%nat /\ X < scaled c m.
Proof.
  intros H P. destruct (beyond_any (2 * c * X + 3)) as [j J]. assert (P' : 0 < 2 * c * X) by (repeat apply Rmult_lt_0_compat; lra).
  assert (J3 : (3 <= j)%nat) by (apply INR_le; cbn [INR]; lra). exists (j * j)%nat. assert (J9 : (3 <= j * j)%nat) by nia. split; [easy|].
  generalize (ln_large c (j * j) H J9). intros L. unfold scaled. apply (Rmult_lt_reg_r (ln (c * INR (j * j)))); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  assert (B : ln (c * INR (j * j)) <= 2 * (c * INR j)).
  { apply Rle_trans with (ln (c * INR j * (c * INR j))).
    - rewrite mult_INR. apply ln_at_most; nra.
    - assert (0 < c * INR j) by nra. rewrite ln_mult by easy. generalize (exp_ineq1_le (ln (c * INR j))). rewrite exp_ln by easy. lra. }
  rewrite mult_INR in B |- *. apply Rle_lt_trans with (X * (2 * (c * INR j))); [apply Rmult_le_compat_l; lra|]. nra.
Qed.

Lemma scaled_between c X : 1 <= c -> 3 <= X -> exists m, (3 <= m)%nat /\ X / 2 <= scaled c m <= X.
Proof.
  intros H P. destruct (scaled_beyond c X H ltac:(lra)) as [top [T B]].
  assert (S : forall d, (3 <= d)%nat -> X < scaled c d -> exists m, (3 <= m)%nat /\ scaled c m <= X < scaled c (S m)).
  { induction d as [|d IH]; intros D G; [lia|]. destruct (Rle_lt_dec (scaled c d) X) as [L|L].
    - destruct (Nat.eq_dec d 2) as [->|]; [|exists d; split; [lia | easy]]. exfalso.
      generalize (ln_large c 3 H (le_n 3)). intros. unfold scaled in G. apply (Rmult_lt_compat_r (ln (c * INR 3))) in G; [|lra].
      unfold Rdiv in G. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in G by lra. cbn [INR] in G, H0. nra.
    - destruct (Nat.eq_dec d 2) as [->|]; [|apply IH; [lia | easy]]. exfalso.
      generalize (ln_large c 3 H (le_n 3)). intros. unfold scaled in G. apply (Rmult_lt_compat_r (ln (c * INR 3))) in G; [|lra].
      unfold Rdiv in G. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in G by lra. cbn [INR] in G, H0. nra. }
  destruct (S top T B) as [m [M [L G]]]. exists m. split; [easy|]. split; [|easy].
  generalize (ln_large c m H M) (ln_large c (Datatypes.S m) H ltac:(lia)). intros A A'. assert (I : 3 <= INR m) by (apply le_INR in M; cbn [INR] in M; lra).
  unfold scaled in *. rewrite S_INR in G, A'. apply Rle_trans with ((INR m + 1) / ln (c * (INR m + 1)) / 2); [lra|].
  assert (D : ln (c * INR m) <= ln (c * (INR m + 1))) by (apply ln_at_most; nra).
  apply Rle_trans with ((INR m + 1) / ln (c * INR m) / 2).
  - unfold Rdiv. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
  - unfold Rdiv. rewrite (Rmult_comm (_ * _)), <- Rmult_assoc. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | lra].
Qed.

(** * KK-T2-sharp *)

Lemma quarter_chance W m (P : sample -> Prop) : 1 <= W -> (1 <= m)%nat ->
  (forall s, In s (draws m (two W)) -> Rabs (balance s) <= INR m / 2 -> P s) -> likely m (two W) (1 - 2 * exp (- (INR m / 8))) P.
Proof.
  intros L M H. exists (even_handed m). split; [|apply hoeffding; lra]. intros s S E. apply H; [easy|]. unfold even_handed in E. now destruct (Rle_dec _ _).
Qed.

Lemma no_early_iterate r a k C least c : (1 <= r)%nat -> (a + 2 <= 2 * r)%nat -> (1 <= k)%nat -> 1 <= C -> (forall W, 1 <= W -> 1 <= c W) ->
  exists W m, 1 <= W /\ (least <= m)%nat /\ likely m (two W) (1 - 2 * exp (- (INR m / 8))) (fun s =>
  (exists w u, l_isotron s w u) /\ forall w u, l_isotron s w u -> forall t,
  INR t <= C * Rpower (W ^ a * scaled (c W) m) (1 / INR r) ->
  C * Rpower (Rpower W (2 * INR r - INR a - 2 / INR k) / scaled (c W) m) (1 / INR r) < error (fun x => ramp (W * x)) s (fun x => u t (w t * x))).
Proof.
  intros Hr Ha Hk HC Hc. set (n := 12 * C + 2 * INR least). generalize (pos_INR least). intros L. assert (N : 12 * C <= n) by (unfold n; lra).
  set (W := n ^ (r * k)). set (full := n ^ (r * ((2 * r - a) * k - 1))).
  assert (W1 : 1 <= W) by (apply pow_R1_Rle; lra).
  assert (F : n <= full) by (rewrite <- (pow_1 n) at 1; apply Rle_pow; [lra | nia]).
  destruct (scaled_between (c W) full (Hc W W1) ltac:(lra)) as [m [M [B T]]].
  exists W, m. split; [easy|]. split.
  - apply INR_le. assert (scaled (c W) m <= INR m); [|unfold n in *; lra].
    generalize (ln_large (c W) m (Hc W W1) M). intros A. unfold scaled. apply (Rmult_le_reg_r (ln (c W * INR m))); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. generalize (pos_INR m). nra.
  - apply quarter_chance; [easy | lia|]. intros s S E. split; [now apply (run_exists W W1 m s S E ltac:(lia))|]. intros w u I t H.
    generalize (error_stays W W1 m s S E ltac:(lia) w u t I). generalize (printed_error r a k Hr Ha Hk C n (scaled (c W) m) HC N B).
    generalize (iterations r a k Hr Ha Hk C n (scaled (c W) m) HC N B T). fold W. intros X Y Z.
    apply Rle_lt_trans with (1 := Y). apply Rlt_le_trans with (2 := Z). assert (Q : INR t <= W ^ 2 / 12) by lra.
      assert (1 <= W ^ 2) by (apply pow_R1_Rle; lra).
    assert (INR t / (2 * W ^ 2) <= 1 / 24); [|lra]. apply (Rmult_le_reg_r (2 * W ^ 2)); [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(** Part 1: M = m / log (W m / delta), as d = 1. For any k, C and delta there are W and m, m as large as one likes, such that with so much
    chance L-Isotron runs, and none of its first 1 + C (W M)^(1/3) iterates has an error below C (W^p / M)^(1/3) for p = 5 - 2/k. *)
Theorem KK_T2_sharp_thirds k C delta least : (1 <= k)%nat -> 1 <= C -> 0 < delta <= 1 ->
  exists W m, 1 <= W /\ (least <= m)%nat /\ likely m (two W) (1 - 2 * exp (- (INR m / 8))) (fun s =>
  (exists w u, l_isotron s w u) /\ forall w u, l_isotron s w u -> let M := INR m / ln (W * INR m / delta) in
  forall t, INR t <= C * Rpower (W * M) (1 / 3) ->
  C * Rpower (Rpower W (5 - 2 / INR k) / M) (1 / 3) < error (fun x => ramp (W * x)) s (fun x => u t (w t * x))).
Proof.
  intros K HC D. assert (I : 1 <= / delta) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  destruct (no_early_iterate 3 1 k C least (fun W => W * / delta) ltac:(lia) ltac:(lia) K HC ltac:(intros; nra)) as [W [m [A [B [event [H P]]]]]].
  exists W, m. split; [easy|]. split; [easy|]. exists event. split; [|easy]. intros s S E. destruct (H s S E) as [X Y]. split; [easy|]. intros w u J M t T.
  specialize (Y w u J t). cbn [INR] in Y. unfold scaled in Y. replace (W * / delta * INR m) with (W * INR m / delta) in Y by (unfold Rdiv; ring). fold M in Y.
  rewrite pow_1 in Y. replace (2 * (1 + 1 + 1) - 1 - 2 / INR k) with (5 - 2 / INR k) in Y by ring. replace (1 + 1 + 1) with 3 in Y by ring. now apply Y.
Qed.

(** Part 2: M = m / log (m / delta), 1 + C (W^2 M)^(1/4) iterates, C (W^p / M)^(1/4) and p = 6 - 2/k. *)
Theorem KK_T2_sharp_fourths k C delta least : (1 <= k)%nat -> 1 <= C -> 0 < delta <= 1 ->
  exists W m, 1 <= W /\ (least <= m)%nat /\ likely m (two W) (1 - 2 * exp (- (INR m / 8))) (fun s =>
  (exists w u, l_isotron s w u) /\ forall w u, l_isotron s w u -> let M := INR m / ln (INR m / delta) in
  forall t, INR t <= C * Rpower (W ^ 2 * M) (1 / 4) ->
  C * Rpower (Rpower W (6 - 2 / INR k) / M) (1 / 4) < error (fun x => ramp (W * x)) s (fun x => u t (w t * x))).
Proof.
  intros K HC D. assert (I : 1 <= / delta) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  destruct (no_early_iterate 4 2 k C least (fun _ => / delta) ltac:(lia) ltac:(lia) K HC ltac:(intros; nra)) as [W [m [A [B [event [H P]]]]]].
  exists W, m. split; [easy|]. split; [easy|]. exists event. split; [|easy]. intros s S E. destruct (H s S E) as [X Y]. split; [easy|]. intros w u J M t T.
  specialize (Y w u J t). cbn [INR] in Y. unfold scaled in Y. replace (/ delta * INR m) with (INR m / delta) in Y by (unfold Rdiv; ring). fold M in Y.
  replace (2 * (1 + 1 + 1 + 1) - (1 + 1) - 2 / INR k) with (6 - 2 / INR k) in Y by ring. replace (1 + 1 + 1 + 1) with 4 in Y by ring. now apply Y.
Qed.
